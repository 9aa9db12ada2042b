/**
 * The agent every new installation starts with, as an agent file: it greets, says where the documentation answers a
 * question, and shows progress. It needs no model.
 */
export const DEMO_AGENT_FILE = {
  agent: 'demo',
  name: 'Demo',
  description:
    'Shows around Patchbay: ask how to connect a client, create a key, deploy an agent, configure the platform or use the command line; "show progress" answers in several pieces, "ask a person" waits for an approval.',
  mcp_enabled: true,

  dictionary: {
    words: [
      ...words('greeting(hello)', 'hello', 'hi', 'hey', 'hallo', 'welcome'),
      ...words('greeting(thanks)', 'thanks', 'thx'),
      ...words('greeting(bye)', 'bye', 'goodbye', 'quit'),
      ...words('topic(help)', 'help', 'what', 'commands'),
      ...words('topic(progress)', 'progress', 'streaming', 'stream'),
      ...words('topic(keys)', 'key', 'keys', 'token', 'credential', 'credentials'),
      ...words('topic(agents)', 'deploy', 'agent', 'agents', 'yaml', 'rule', 'rules', 'dictionary'),
      ...words(
        'topic(configuration)',
        'configure',
        'configuration',
        'config',
        'setting',
        'settings',
        'port',
        'postgres',
        'postgresql',
      ),
      ...words('topic(cli)', 'cli', 'terminal', 'shell'),
      ...words(
        'topic(connect)',
        'connect',
        'client',
        'clients',
        'host',
        'hosts',
        'mcp',
        'claude',
        'cursor',
        'vscode',
        'stdio',
      ),
      ...words('topic(start)', 'start', 'begin', 'install', 'first'),
    ],
    phrases: [
      { phrase: 'show progress', expressions: 'topic(progress)' },
      { phrase: 'ask a person', expressions: 'topic(approval)' },
      { phrase: 'ask somebody', expressions: 'topic(approval)' },
      { phrase: 'thank you', expressions: 'greeting(thanks)' },
      { phrase: 'good bye', expressions: 'greeting(bye)' },
      { phrase: 'api key', expressions: 'topic(keys)' },
      { phrase: 'agent file', expressions: 'topic(agents)' },
      { phrase: 'command line', expressions: 'topic(cli)' },
      { phrase: 'get started', expressions: 'topic(start)' },
      { phrase: 'getting started', expressions: 'topic(start)' },
    ],
  },

  rules: {
    behaviorGroups: [
      {
        name: 'answers',
        rules: [
          {
            name: 'a conversation starts',
            actions: ['greet'],
            conditions: [{ type: 'actionmatcher', configs: { actions: 'CONVERSATION_START' } }],
          },
          onExpression('topic(progress)', 'show_progress'),
          onExpression('topic(approval)', 'ask_person', 'PAUSE_CONVERSATION'),
          onExpression('topic(keys)', 'explain_keys'),
          onExpression('topic(connect)', 'explain_connect'),
          onExpression('topic(agents)', 'explain_agent_files'),
          onExpression('topic(configuration)', 'explain_configuration'),
          onExpression('topic(cli)', 'explain_cli'),
          onExpression('topic(start)', 'explain_start'),
          onExpression('greeting(thanks)', 'welcome'),
          onExpression('greeting(bye)', 'say_bye', 'CONVERSATION_END'),
          onExpression('greeting(hello)', 'greet_again'),
          onExpression('topic(help)', 'help'),
          { name: 'anything else', actions: ['not_understood'] },
        ],
      },
    ],
  },

  output: {
    outputSet: [
      {
        action: 'greet',
        outputs: [
          says(
            'Hello, I am the demo agent of this Patchbay. I am made of one dictionary, one set of rules and one set of outputs.',
          ),
          says('Ask me how to do something, or let me show progress.'),
        ],
        quickReplies: suggestions(),
      },
      {
        action: 'greet_again',
        outputs: [says('Hello! What would you like to do?', 'Hi there! What can I help you with?')],
        quickReplies: suggestions(),
      },
      {
        action: 'help',
        outputs: [
          says(
            'I answer questions such as "How do I connect a client?", "How do I create a key?", "How do I deploy an agent?", "How do I configure Patchbay?" and "How do I use the command line?". Say "show progress" to see an answer arrive in pieces, or "ask a person" to see me wait for an approval.',
          ),
        ],
        quickReplies: suggestions(),
      },
      {
        action: 'explain_start',
        outputs: [says(page('getting-started', 'It goes from the first start to the first conversation.'))],
      },
      {
        action: 'explain_connect',
        outputs: [
          says(
            page(
              'connect',
              'In short: run "npx patchbay connect" with the name of your host, or give the host one of the two MCP addresses and a key.',
            ),
          ),
        ],
      },
      {
        action: 'explain_keys',
        outputs: [
          says(
            page(
              'keys',
              'In short: "npx patchbay keys create" makes a key that acts as you, and with --agent one that opens a single agent. A key is shown once.',
            ),
          ),
        ],
      },
      {
        action: 'explain_agent_files',
        outputs: [
          says(
            page(
              'agent-files',
              'In short: change examples/hello.yaml and run "npx patchbay agents deploy examples/hello.yaml".',
            ),
          ),
        ],
      },
      {
        action: 'explain_configuration',
        outputs: [
          says(
            page(
              'configuration',
              'In short: every setting is an environment variable that starts with PATCHBAY_, or a member of the configuration file.',
            ),
          ),
        ],
      },
      {
        action: 'explain_cli',
        outputs: [
          says(page('cli', 'In short: "npx patchbay --help" lists the commands, each with an example.')),
        ],
      },
      {
        action: 'show_progress',
        outputs: [
          typed(400, 'One: this bubble was sent while the turn was still running.'),
          typed(400, 'Two: a client that listens to progress sees it at once.'),
          typed(400, 'Three: a plain client gets all of them together at the end.'),
          typed(400, 'Four: done.'),
        ],
      },
      {
        action: 'ask_person',
        outputs: [says('Approved: I went on from where I had waited.')],
      },
      { action: 'welcome', outputs: [says('You are welcome.', 'With pleasure.')] },
      {
        action: 'say_bye',
        outputs: [says('Goodbye. This conversation is over; a new one can start at any time.')],
      },
      {
        action: 'not_understood',
        outputs: [
          says(
            'I did not understand "{{ input | truncate: 80 }}". I know about connecting clients, keys, agent files, configuration and the command line.',
          ),
        ],
        quickReplies: suggestions(),
      },
      {
        action: 'not_understood',
        timesOccurred: 1,
        outputs: [
          says(
            'I only know a few words, and "{{ input | truncate: 80 }}" holds none of them. Say "help" for the questions I can answer, or read the docs page getting-started.',
          ),
        ],
        quickReplies: suggestions(),
      },
    ],
  },
};

function words(expressions: string, ...list: string[]) {
  return list.map(word => ({ word, expressions }));
}

function onExpression(expressions: string, ...actions: string[]) {
  return {
    name: expressions,
    actions,
    conditions: [{ type: 'inputmatcher', configs: { expressions } }],
  };
}

/** One bubble; of several texts one is said. */
function says(...texts: string[]) {
  return { valueAlternatives: texts.map(text => ({ type: 'text', text })) };
}

function typed(delay: number, text: string) {
  return { valueAlternatives: [{ type: 'text', text, delay }] };
}

function page(name: string, inShort: string): string {
  return `Read the docs page ${name} (read_docs with the name "${name}"). ${inShort}`;
}

/** Choosing one means its expression, whatever the words. */
function suggestions() {
  return [
    { value: 'How do I connect a client?', expressions: 'topic(connect)' },
    { value: 'How do I create a key?', expressions: 'topic(keys)' },
    { value: 'How do I deploy an agent?', expressions: 'topic(agents)' },
    { value: 'Show progress', expressions: 'topic(progress)' },
  ];
}
