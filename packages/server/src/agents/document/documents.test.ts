import { DOCUMENT_TYPES } from '@patchbay/contract/ids';
import { describe, expect, it } from 'vitest';
import { agentDocument } from './agent.ts';
import { DOCUMENT_SCHEMAS } from './documents.ts';
import { parseDocument } from './parse-document.ts';
import { workflowDocument } from './workflow.ts';

const ID = '65f0c0ffee0123456789abcd';

describe('the table of documents', () => {
  it('has a schema of each type', () => {
    expect(Object.entries(DOCUMENT_SCHEMAS).map(([type, schema]) => [type, schema.type])).toEqual(
      DOCUMENT_TYPES.map(type => [type, type]),
    );
  });
});

describe('a workflow', () => {
  it('is taken in the forms of EDDI and kept in ours', () => {
    const parsed = parseDocument(workflowDocument, {
      packageExtensions: [
        {
          type: 'eddi://ai.labs.parser',
          config: {},
          extensions: {
            dictionaries: [
              { type: 'eddi://ai.labs.parser.dictionaries.integer' },
              {
                type: 'eddi://ai.labs.parser.dictionaries.regular',
                config: { uri: `eddi://ai.labs.dictionary/dictionarystore/dictionaries/${ID}?version=3` },
              },
            ],
          },
        },
        {
          type: 'eddi://ai.labs.behavior',
          config: { uri: `eddi://ai.labs.rules/rulestore/rulesets/${ID}?version=1` },
        },
        { type: 'eddi://ai.labs.templating' },
      ],
    });
    expect(parsed).toEqual({
      workflowSteps: [
        {
          type: 'parser',
          config: {},
          extensions: {
            dictionaries: [
              { type: 'integer' },
              { type: 'regular', config: { uri: `patchbay://dictionary/${ID}?version=3` } },
            ],
          },
        },
        { type: 'rules', config: { uri: `patchbay://rules/${ID}?version=1` } },
        { type: 'templating' },
      ],
    });
    expect(parseDocument(workflowDocument, parsed)).toEqual(parsed);
  });

  it('names field, path and known fields of what it does not know', () => {
    expect(() =>
      parseDocument(workflowDocument, { workflowSteps: [{ type: 'rules', configs: {} }] }),
    ).toThrow(
      'workflow document: field "configs" at $.workflowSteps[0].configs is unknown (known fields there: type, config, extensions).',
    );
    expect(() => parseDocument(workflowDocument, { workflowSteps: [], steps: [] })).toThrow(
      'field "steps" at $.steps is unknown (known fields there: workflowSteps)',
    );
  });
});

describe('an agent', () => {
  const workflows = [`patchbay://workflow/${ID}?version=1`];

  it('is taken in the forms of EDDI and kept in ours', () => {
    const packages = [`eddi://ai.labs.package/packagestore/packages/${ID}?version=1`];
    expect(parseDocument(agentDocument, { packages })).toEqual({ workflows });
  });

  it('says how long a pause waits, and what then', () => {
    const hitlConfig = { approvalTimeout: 'PT30M', timeoutPolicy: 'AUTO_REJECT', pauseReason: 'Ask Ann.' };
    expect(parseDocument(agentDocument, { workflows, hitlConfig })).toEqual({ workflows, hitlConfig });
    expect(parseDocument(agentDocument, { workflows, hitlConfig: {} })).toEqual({
      workflows,
      hitlConfig: { timeoutPolicy: 'WAIT_INDEFINITELY' },
    });
  });

  it.each([
    [
      { approvalTimeout: '30m' },
      /\$\.hitlConfig\.approvalTimeout is not valid: must be an ISO-8601 duration/,
    ],
    [{ approvalTimeout: 'PT0S' }, /must be longer than nothing/],
    [{ approvalTimeout: 'P9999D' }, /3650 days at most/],
    [{ timeoutPolicy: 'ABORT' }, /approvalTimeout is not valid: is needed with ABORT/],
    [{ timeoutPolicy: 'LATER' }, /timeoutPolicy/],
    [{ pauseReason: 'x'.repeat(501) }, /at most 500 characters/],
    [{ toolApproval: {} }, /"toolApproval" at \$\.hitlConfig\.toolApproval is unknown/],
  ])('refuses the pause settings %j', (hitlConfig, message) => {
    expect(() => parseDocument(agentDocument, { workflows, hitlConfig })).toThrow(message);
  });
});
