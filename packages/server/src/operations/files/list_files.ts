import type { Files } from '../../agents/file/files.ts';
import type { OperationHandler } from '../bind.ts';
import { fileInfo } from './file-info.ts';

export function listFiles(files: Files): OperationHandler<'list_files'> {
  return async (input, { principal }) => {
    const found = await files.list(principal, input);
    return { count: found.length, files: found.map(fileInfo) };
  };
}
