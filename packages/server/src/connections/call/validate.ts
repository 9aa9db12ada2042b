import { Validator } from '@cfworker/json-schema';
import type { RemoteTool } from '../tool/remote-tool.ts';
import { type CallStep, refuse } from './outbound-call.ts';

/**
 * Ensures that the arguments are what the tool takes, as far as its schema says. No `$ref` leaves the schema, and a schema that would take
 * long has been set aside when the list was read (attack 42).
 */
export function createValidateStep(): CallStep {
  const validators = new WeakMap<RemoteTool, Validator>();
  return {
    name: 'validate',
    run({ tool, call }) {
      let validator = validators.get(tool!);
      if (!validator) {
        validator = new Validator(tool!.inputSchema, '2020-12', true);
        validators.set(tool!, validator);
      }
      const { valid, errors } = validator.validate(call.arguments);
      if (valid) return undefined;
      const { instanceLocation, error } = errors.at(-1)!;
      const place = instanceLocation === '#' ? '' : ` at ${instanceLocation.slice(2)}`;
      return refuse(
        'INVALID_ARGUMENTS',
        `the tool "${call.tool}" does not take these arguments${place}: ${error}`,
      );
    },
  };
}
