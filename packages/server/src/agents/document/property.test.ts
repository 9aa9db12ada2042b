import { describe, expect, it } from 'vitest';
import { parseDocument } from './parse-document.ts';
import { propertyDocument } from './property.ts';

const save = (body: unknown) => parseDocument(propertyDocument, body);
const withInstruction = (instruction: object) => ({
  setOnActions: [{ actions: ['greet'], setProperties: [instruction] }],
});
const defaults = {
  scope: 'conversation',
  convertToObject: false,
  override: true,
  runOnValidationError: false,
};

describe('a property document', () => {
  it('fills in the documented defaults', () => {
    expect(save(withInstruction({ name: 'city', valueString: 'Bern' }))).toEqual({
      setOnActions: [
        { actions: ['greet'], setProperties: [{ ...defaults, name: 'city', valueString: 'Bern' }] },
      ],
    });
  });

  it('reads the inline form as one entry, which is read again as it is', () => {
    const saved = save({
      setOnActions: ['greet', '*'],
      propertyInstructions: [{ name: 'city', fromObjectPath: 'memory.current.httpCalls.weather.city' }],
    });
    expect(saved).toEqual({
      setOnActions: [
        {
          actions: ['greet', '*'],
          setProperties: [
            { ...defaults, name: 'city', fromObjectPath: 'memory.current.httpCalls.weather.city' },
          ],
        },
      ],
    });
    expect(save(saved)).toEqual(saved);
  });

  it.each([
    ['valueInt', 3],
    ['valueFloat', 1.5],
    ['valueBoolean', false],
    ['valueObject', { a: [1, { b: null }] }],
    ['valueList', [1, 'two', null]],
  ])('takes %s', (field, value) => {
    const saved = save(
      withInstruction({ name: 'x', [field]: value, scope: 'longTerm', visibility: 'global' }),
    );
    expect(saved.setOnActions[0]!.setProperties[0]).toMatchObject({ [field]: value, visibility: 'global' });
  });

  it.each([
    ['no value', { name: 'x' }, 'exactly one of'],
    ['two values', { name: 'x', valueInt: 1, valueString: 'a' }, 'exactly one of'],
    ['an unknown visibility', { name: 'x', valueInt: 1, visibility: 'team' }, 'field "visibility"'],
    ['an unknown scope', { name: 'x', valueInt: 1, scope: 'turn' }, 'field "scope"'],
    ['a path to what is not there', { name: 'x', fromObjectPath: 'memory.secret' }, 'names "secret"'],
    [
      'a path outside of properties',
      { name: 'x', valueInt: 1, toObjectPath: 'context.x' },
      'field "toObjectPath"',
    ],
    [
      'a part of a secret',
      { name: 'x', valueString: 'a', scope: 'secret', toObjectPath: 'properties.x.y' },
      'kept whole',
    ],
    ['a reserved name', { name: '__proto__', valueInt: 1 }, 'field "name"'],
    [
      'a status no answer has',
      { name: 'x', valueInt: 1, httpCodeValidator: { runOnHttpCode: [20] } },
      'runOnHttpCode',
    ],
  ])('refuses %s', (_what, instruction, problem) => {
    expect(() => save(withInstruction(instruction))).toThrow(problem);
  });

  it('refuses half of the inline form', () => {
    expect(() => save({ setOnActions: ['greet'] })).toThrow('go together');
    expect(() => save({ propertyInstructions: [{ name: 'x', valueInt: 1 }] })).toThrow('go together');
  });
});
