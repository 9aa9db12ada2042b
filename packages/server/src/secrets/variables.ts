// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import type { Clock } from '../kernel/clock.ts';
import { PlatformError } from '../kernel/errors.ts';
import { createRowCache } from '../store/row-cache.ts';
import type { Store } from '../store/store.ts';
import {
  countVariables,
  deleteVariable,
  findVariable,
  listVariables,
  upsertVariable,
  type VariableRecord,
} from '../store/tables/variables.ts';
import { containsReference } from './reference-text.ts';

const MAX_VARIABLES = 1_000;
const REMEMBERED_MS = 120_000;

/** What is to be set. What is left out stays as it is. */
export interface VariableRequest {
  readonly name: string;
  readonly value: string;
  readonly description?: string | undefined;
  readonly exportable?: boolean | undefined;
  /** Principal id of who sets it. */
  readonly by: string;
}

/** A variable as it is after it was set. */
export interface StoredVariable {
  readonly variable: VariableRecord;
  /** There was none of that name. */
  readonly created: boolean;
}

/** Values that configuration refers to by name. */
export interface Variables {
  /**
   * Sets a variable. Rejects with a `PlatformError`: `invalid` when the value holds a reference, `conflict` when there are as
   * many as there may be.
   */
  put(request: VariableRequest): Promise<StoredVariable>;
  list(options: { readonly after: string; readonly limit: number }): Promise<VariableRecord[]>;
  /** False when there is none of that name. */
  remove(name: string): Promise<boolean>;
  /** All of them, by name: what templates know as `vars`. */
  values(): Promise<ReadonlyMap<string, string>>;
}

export function createVariables(deps: { readonly store: Store; readonly clock: Clock }): Variables {
  const { store, clock } = deps;
  const all = createRowCache({
    clock,
    store,
    load: async () => {
      const variables = await listVariables(store.db, { after: '', limit: MAX_VARIABLES });
      return new Map(variables.map(({ name, value }) => [name, value]));
    },
    readAgainMs: REMEMBERED_MS,
  });
  store.subscribe(event => {
    if (event.kind === 'resync' || event.kind === 'variable-changed') all.forget(() => true);
  });

  return {
    async put({ name, value, description, exportable, by }) {
      if (containsReference(value)) {
        throw new PlatformError(
          'invalid',
          'value: a variable holds no reference; write both where they are used, as in ${vars:url}/${vault:key}.',
        );
      }
      const at = clock.now();
      return store.commit(async db => {
        const before = await findVariable(db, name);
        if (!before && (await countVariables(db)) >= MAX_VARIABLES) {
          throw new PlatformError(
            'conflict',
            `There are ${MAX_VARIABLES} variables, as many as there may be.`,
          );
        }
        const variable: VariableRecord = {
          name,
          value,
          description: description ?? before?.description ?? '',
          exportable: exportable ?? before?.exportable ?? true,
          createdBy: before?.createdBy ?? by,
          createdAt: before?.createdAt ?? at,
          modifiedBy: by,
          modifiedAt: at,
        };
        await upsertVariable(db, variable);
        return { variable, created: before === undefined };
      });
    },

    list: options => listVariables(store.db, options),
    remove: name => store.commit(db => deleteVariable(db, name)),
    values: async () => all.recall('') ?? (await all.read('')) ?? new Map(),
  };
}
