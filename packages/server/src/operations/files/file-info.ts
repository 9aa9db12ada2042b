import type { StoredFile } from '../../agents/file/files.ts';

/** A file as REST shows it. */
export function fileInfo({ id, filename, contentType, size, createdAt, content }: StoredFile) {
  return {
    file_id: id,
    filename,
    content_type: contentType,
    size,
    status: content ? ('uploaded' as const) : ('pending' as const),
    ...(content && { sha256: content.sha256 }),
    created_at: createdAt,
    ...(content && { uploaded_at: content.uploadedAt }),
  };
}
