import type { HttpCall } from './http-call.ts';

type Validator = NonNullable<
  HttpCall['postResponse']
>['outputBuildInstructions'][number]['httpCodeValidator'];

/**
 * Does an instruction run on an answer with this status? Without a validator on those that say "done". `undefined` is no answer, on
 * which nothing runs.
 */
export function runsOn(validator: Validator, status: number | undefined): boolean {
  if (status === undefined) return false;
  if (validator === undefined) return status >= 200 && status < 300;
  const { runOnHttpCode = [], skipOnHttpCode = [] } = validator;
  if (skipOnHttpCode.includes(status)) return false;
  return runOnHttpCode.length === 0 || runOnHttpCode.includes(status);
}
