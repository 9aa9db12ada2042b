import type { StoredVariable } from '../../secrets/variables.ts';

/** A variable as it is shown. */
export function variableInfo(record: StoredVariable['variable']) {
  return {
    name: record.name,
    value: record.value,
    description: record.description,
    exportable: record.exportable,
    createdBy: record.createdBy,
    createdOn: record.createdAt,
    modifiedBy: record.modifiedBy,
    modifiedOn: record.modifiedAt,
  };
}
