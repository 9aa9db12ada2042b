import { mayMakeKeys } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';

/** Throws a `PlatformError` of kind `forbidden` unless a person makes the key themselves. */
export function refuseKeyHolders(principal: Principal, operation: string): void {
  if (mayMakeKeys(principal)) return;
  throw new PlatformError(
    'forbidden',
    `${operation}: a key cannot make keys. Run \`npx patchbay keys create\` on the machine the platform runs on, as the user who runs it, without --url and --key.`,
  );
}
