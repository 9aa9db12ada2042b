import { PlatformError } from '../../kernel/errors.ts';

/** Throws a `PlatformError` of kind `forbidden` unless a person does this themselves. */
export function refuseKeys(isAllowed: boolean, operation: string, command: string): void {
  if (isAllowed) return;
  throw new PlatformError(
    'forbidden',
    `${operation}: no key lets anybody in. Run \`npx patchbay ${command}\` on the machine the platform runs on, as the user who runs it, without --url and --key.`,
  );
}
