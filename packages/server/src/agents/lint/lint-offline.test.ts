import type { LintCode } from '@patchbay/contract/operations/lint';
import { describe, expect, it } from 'vitest';
import { lintAgentFile } from './lint-offline.ts';

type Members = Record<string, unknown>;

const matches = (expressions: string) => ({ type: 'inputmatcher', configs: { expressions } });
const afterAction = (actions: string) => ({ type: 'actionmatcher', configs: { actions } });
const not = (...conditions: Members[]) => ({ type: 'negation', conditions });
const rule = (name: string, conditions: Members[] = [], actions = ['answer']) => ({
  name,
  actions,
  conditions,
});
const says = (action: string, quickReplies: Members[] = []) => ({
  action,
  outputs: [{ valueAlternatives: [{ type: 'text', text: 'Yes.' }] }],
  quickReplies,
});

/** An agent whose rules are one group. */
function agent(rules: readonly Members[], more: Members = {}): Members {
  return {
    agent: 'clerk',
    name: 'Clerk',
    rules: { behaviorGroups: [{ name: 'all', rules }] },
    output: { outputSet: [says('answer')] },
    ...more,
  };
}

async function found(file: Members): Promise<string[]> {
  const { findings } = await lintAgentFile(file);
  return findings.map(({ code, place, says }) => `${code} | ${place} | ${says}`);
}

const dead = (name: string, why: string) =>
  `dead-rule | rules clerk, group "all", rule "${name}" | It never fires: ${why}.`;

describe('an agent in which everything has its use', () => {
  it('gives no finding', async () => {
    const rules = [
      rule('coffee', [matches('drink(coffee)')]),
      rule('drink', [matches('drink(*)')]),
      rule('not after', [not(afterAction('answer'))]),
      rule('otherwise'),
    ];
    const words = [
      { word: 'coffee', expressions: 'drink(coffee)' },
      { word: 'the', expressions: '' },
    ];
    expect(await found(agent(rules, { dictionary: { words } }))).toEqual([]);
  });

  it('is not taken for one in which something is useless only because that cannot be proved', async () => {
    const rules = [
      rule('often', [{ type: 'occurrence', configs: { behaviorRuleName: 'often', maxTimesOccurred: 2 } }]),
      rule('either', [
        { type: 'connector', configs: { operator: 'OR' }, conditions: [matches('c'), afterAction('nobody')] },
      ]),
      rule('two', [matches('a, b')]),
      rule('one', [matches('a')]),
      rule('earlier', [{ type: 'actionmatcher', configs: { actions: 'answer', occurrence: 'lastStep' } }]),
      rule('otherwise'),
    ];
    expect(await found(agent(rules))).toEqual([]);
    // All that is said is an action there, so any output may be reached; and a template reads the actions.
    const open = agent([rule('otherwise', [], ['anything'])], {
      output: {
        outputSet: [
          {
            action: 'answer',
            outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ memory.current.actions }}' }] }],
          },
        ],
      },
    });
    const rulesOfIt = { ...(open.rules as Members), expressionsAsActions: true };
    expect(await found({ ...open, rules: rulesOfIt })).toEqual([]);
  });
});

describe('a rule that never fires', () => {
  it.each<[string, readonly Members[], string]>([
    [
      'behind one without conditions',
      [rule('first'), rule('late', [matches('a')])],
      dead('late', '"first" before it has no conditions and always wins'),
    ],
    [
      'behind a wider one',
      [
        rule('drinks', [matches('drink(*)')]),
        rule('late', [matches('drink(coffee)'), afterAction('CONVERSATION_START')]),
      ],
      dead('late', 'whenever its conditions hold, "drinks" before it wins'),
    ],
    [
      'behind one that asks for less, nested',
      [
        rule('either', [
          { type: 'connector', configs: { operator: 'OR' }, conditions: [matches('a'), matches('b')] },
        ]),
        rule('late', [
          { type: 'connector', configs: { operator: 'AND' }, conditions: [matches('b, c'), matches('d')] },
        ]),
      ],
      dead('late', 'whenever its conditions hold, "either" before it wins'),
    ],
    [
      'that depends on the one before it',
      [rule('base', [matches('a')]), rule('late', [{ type: 'dependency', configs: { reference: 'base' } }])],
      dead('late', 'whenever its conditions hold, "base" before it wins'),
    ],
    [
      'that asks for something and its opposite',
      [rule('both', [matches('a'), not(matches('a'))])],
      dead('both', 'it asks for something and for its opposite'),
    ],
    [
      'that asks for what was never there',
      [
        rule('both', [
          matches('a(b)'),
          { type: 'inputmatcher', configs: { expressions: 'a(*)', occurrence: 'never' } },
        ]),
      ],
      dead('both', 'it asks for something that was never there'),
    ],
    [
      'that wants two values of one',
      [
        rule(
          'two',
          ['x', 'y'].map(equals => ({
            type: 'dynamicvaluematcher',
            configs: { valuePath: 'properties.a', equals },
          })),
        ),
      ],
      dead('two', 'properties.a cannot be two values'),
    ],
    [
      'that wants a context of two types',
      [
        rule('two', [
          { type: 'contextmatcher', configs: { contextKey: 'k', contextType: 'string', string: 'x' } },
          {
            type: 'contextmatcher',
            configs: { contextKey: 'k', contextType: 'expressions', expressions: 'x' },
          },
        ]),
      ],
      dead('two', 'the context k cannot be of two types'),
    ],
    [
      'that wants two kinds of installation',
      [
        rule(
          'two',
          ['test', 'live'].map(when => ({ type: 'deploymentContext', configs: { when } })),
        ),
      ],
      dead('two', 'an installation is of one kind'),
    ],
    [
      'whose bounds leave nothing',
      [
        rule('none', [
          { type: 'sizematcher', configs: { valuePath: 'memory.current.input', min: 3, max: 2 } },
        ]),
      ],
      dead('none', 'no size is within its bounds'),
    ],
    [
      'that waits for an unknown rule',
      [rule('none', [{ type: 'occurrence', configs: { behaviorRuleName: 'gone', minTimesOccurred: 1 } }])],
      dead('none', 'it waits for the rule "gone", and there is none of this name'),
    ],
    [
      'that waits for an action of its own rules in the same turn',
      [rule('none', [afterAction('answer')])],
      dead('none', 'it waits for the action "answer", which nothing raises before these rules begin'),
    ],
  ])('%s', async (_what, rules, sentence) => {
    expect((await found(agent(rules))).filter(text => text.startsWith('dead'))).toEqual([sentence]);
  });

  it('is not one of a group whose rules all run', async () => {
    const group = { name: 'all', executionStrategy: 'executeAll', rules: [rule('first'), rule('second')] };
    expect(await found({ ...agent([]), rules: { behaviorGroups: [group] } })).toEqual([]);
  });

  it('is said not to be looked at where there are very many', async () => {
    const many = Array.from({ length: 700 }, (_, index) => rule(`r${index}`, [matches(`a(${index})`)]));
    expect((await found(agent(many)))[0]).toContain('not-looked-at | rules clerk, group "all", rule "r');
  });
});

describe('what nothing asks for', () => {
  it.each<[LintCode, Members, string]>([
    [
      'unreachable-output',
      agent([rule('one')], { output: { outputSet: [says('answer'), says('other')] } }),
      'output clerk, action "other" | It is never said: no rule before it raises "other".',
    ],
    [
      'unheard-action',
      agent([rule('one', [], ['answer', 'other', 'CONVERSATION_END'])]),
      'rules clerk, group "all", rule "one" | It raises "other", and nothing after it hears that.',
    ],
    [
      'idle-property',
      agent([rule('one')], {
        property: {
          setOnActions: [{ actions: ['*', 'keep'], setProperties: [{ name: 'a', valueString: 'b' }] }],
        },
      }),
      'property clerk, entry 1 of setOnActions | It waits for "keep", which no rule before it raises.',
    ],
    [
      'idle-call',
      agent([rule('one')], {
        httpcalls: {
          targetServerUrl: 'https://api.example.org',
          httpCalls: [{ name: 'look', actions: ['look'], request: { path: '/' } }],
        },
      }),
      'httpcalls clerk, call "look" | It waits for "look", which no rule before it raises.',
    ],
    [
      'idle-call',
      agent([rule('one')], {
        httpcalls: {
          targetServerUrl: 'https://api.example.org',
          httpCalls: [{ name: 'look', request: { path: '/' } }],
        },
      }),
      'httpcalls clerk, call "look" | It is never made: it waits for no action.',
    ],
    [
      'idle-call',
      agent([rule('one')], {
        mcpcalls: {
          mcpServerUrl: 'https://mcp.example.org/mcp',
          mcpCalls: [{ name: 'look', actions: ['look'], toolName: 'look' }],
        },
      }),
      'mcpcalls clerk, call "look" | It waits for "look", which no rule before it raises.',
    ],
    [
      'idle-call',
      agent([rule('one')], {
        mcpcalls: {
          mcpServerUrl: 'https://mcp.example.org/mcp',
          mcpCalls: [{ name: 'look', toolName: 'look' }],
        },
      }),
      'mcpcalls clerk, call "look" | It is never made: it waits for no action.',
    ],
    [
      'idle-call',
      agent([rule('one')], {
        mcpcalls: {
          mcpServerUrl: 'https://mcp.example.org/mcp',
          toolsBlacklist: ['look'],
          mcpCalls: [{ name: 'look', actions: ['*'], toolName: 'look' }],
        },
      }),
      'mcpcalls clerk, call "look" | It is never made: toolsBlacklist leaves out the tool "look".',
    ],
    [
      'idle-call',
      agent([rule('one')], {
        mcpcalls: {
          mcpServerUrl: 'https://mcp.example.org/mcp',
          toolsWhitelist: ['see'],
          exposeResources: true,
          mcpCalls: [
            { name: 'look', actions: ['*'], toolName: 'look' },
            { name: 'all', actions: ['*'], toolName: 'x_list_resources' },
          ],
        },
      }),
      'mcpcalls clerk, call "look" | It is never made: toolsWhitelist leaves out the tool "look".',
    ],
    [
      'unasked-word',
      agent([rule('one', [matches('drink(coffee)')])], {
        dictionary: {
          words: [
            { word: 'coffee', expressions: 'drink(coffee)' },
            { word: 'tea', expressions: 'drink(tea)' },
          ],
          phrases: [{ phrase: 'green tea', expressions: 'drink(tea)' }],
        },
      }),
      'dictionary clerk, "tea", "green tea" | No rule asks for "drink(tea)", which they mean.',
    ],
    [
      'shadowed-quick-reply',
      agent([rule('one')], {
        output: {
          outputSet: [
            says('answer', [
              { value: 'Yes', expressions: 'yes' },
              { value: 'yes ', expressions: 'no' },
            ]),
          ],
        },
      }),
      'output clerk, action "answer", quick reply "yes " | It is never understood as its own: "Yes" before it reads the same.',
    ],
    [
      'shadowed-quick-reply',
      agent([rule('one')], {
        output: {
          outputSet: [
            says('answer', [
              { value: 'A', expressions: 'a(b,c)' },
              { value: 'B', expressions: 'a(b, c)' },
            ]),
          ],
        },
      }),
      'output clerk, action "answer", quick reply "B" | It means the same as "A" before it.',
    ],
    [
      'idle-task',
      agent([rule('one')], { llm: { model: 'ollama', actions: ['ask', 'answer'] } }),
      'llm clerk, task "main" | It waits for "ask", which no rule before it raises.',
    ],
    [
      'plain-key',
      agent([rule('one')], { llm: { model: 'openai', apiKey: 'sk-1' } }),
      'llm clerk, task "main" | The key stands in the agent itself: whoever reads or exports it has the key.',
    ],
  ])('is told: %s', async (code, file, rest) => {
    expect(await found(file)).toEqual([`${code} | ${rest}`]);
  });

  it('is a warning with a remedy', async () => {
    const { agentId, findings } = await lintAgentFile(agent([rule('one', [], ['answer', 'other'])]));
    expect(agentId).toBe('clerk');
    expect(findings).toMatchObject([
      { severity: 'warning', mend: 'Add an entry for the action to the output, or remove it here.' },
    ]);
  });
});

it('a file that is not right is refused as a deployment refuses it', async () => {
  await expect(lintAgentFile({ agent: 'clerk' })).rejects.toThrow('agent file: field "name"');
});
