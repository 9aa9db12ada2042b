import type { DocumentType } from '@patchbay/contract/ids';
import type { z } from 'zod';

/** What a document of one type may hold. Bodies are parsed strictly when written, leniently when read (platform.md 1.2). */
export interface DocumentSchema<S extends z.ZodType = z.ZodType> {
  readonly type: DocumentType;
  readonly body: S;
}
