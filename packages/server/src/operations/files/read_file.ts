import type { Files } from '../../agents/file/files.ts';
import type { OperationHandler } from '../bind.ts';
import { fileInfo } from './file-info.ts';

export function readFile(files: Files): OperationHandler<'read_file'> {
  return async ({ file_id }, { principal }) => {
    const file = await files.read(principal, file_id);
    if (!file.content) return fileInfo(file);
    const { url, expires } = files.downloadAddress(file);
    return { ...fileInfo(file), download_url: url, download_expires: expires };
  };
}
