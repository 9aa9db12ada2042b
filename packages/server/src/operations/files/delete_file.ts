import type { Files } from '../../agents/file/files.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteFile(files: Files): OperationHandler<'delete_file'> {
  return async ({ file_id }, { principal }) => {
    await files.remove(principal, file_id);
    return {};
  };
}
