import type { DocumentType } from '@patchbay/contract/ids';
import type { z } from 'zod';

/** What a document of one type may hold. Bodies are parsed strictly when written, leniently when read (platform.md 1.2). */
export interface DocumentSchema<S extends z.ZodType = z.ZodType> {
  readonly type: DocumentType;
  readonly body: S;
  /**
   * Asked of a body that is written, besides its form: what is stored already may be otherwise. Throws a `PlatformError` of kind
   * `invalid` whose message names the field.
   */
  check?(body: z.output<S>): void;
}
