import type { Files } from '../../agents/file/files.ts';
import type { OperationHandler } from '../bind.ts';

export function presignUpload(files: Files): OperationHandler<'presign_upload'> {
  return async ({ filename, content_type, size }, { principal }) => {
    const { file, url, expires } = await files.presignUpload(principal, {
      filename,
      contentType: content_type,
      size,
    });
    return { file_id: file.id, upload_url: url, expires };
  };
}
