// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import {
  after,
  begun,
  dictionaryText,
  type Head,
  headText,
  quickReplies,
  quoted,
  rule,
  said,
  says,
} from './parts.ts';
import type { Api } from './plan.ts';

const READ = 'ask(read)';
const WRITE = 'ask(write)';

/** An agent that reads from an HTTP API, and writes to it when a person has approved. */
export function apiAgent(head: Head, file: string, { server, readPath, writePath, secret }: Api): string {
  const words = [
    { words: ['look', 'find', 'show'], meaning: READ },
    { words: ['add', 'write', 'new'], meaning: WRITE },
  ];
  const headers =
    secret === undefined ? '' : `        headers: { Authorization: "Bearer \${vault:${secret}}" }\n`;
  const aboutSecret =
    secret === undefined
      ? ''
      : `  # The key is in the vault: npx patchbay secrets set ${secret}. It is filled in when a call is made, and shown nowhere.\n`;
  return `${headText(head, file)}
# A turn that raises PAUSE_CONVERSATION waits for a person; nobody within four hours is a no.
hitlConfig:
  approvalTimeout: PT4H
  timeoutPolicy: AUTO_REJECT
  pauseReason: Something is about to be written.
${dictionaryText(words)}
# When to do what. The first rule whose conditions hold wins.
rules:
  behaviorGroups:
    - name: api
      rules:
        # Every conversation begins with the action CONVERSATION_START.
${rule('start', ['greet'], [begun])}        # Whatever is said after a question is its answer, so these stand in front.
${rule('read', ['read'], [after('ask_wanted')])}        # The steps behind the rules, and so the call, run when a person has approved: npx patchbay approvals list
${rule('write', ['write', 'PAUSE_CONVERSATION'], [after('ask_text')])}${rule('what to read', ['ask_wanted'], [said(READ)])}${rule('what to write', ['ask_text'], [said(WRITE)])}${rule('otherwise', ['help'])}
# What to keep when an action is raised. Templates find it under properties.
property:
  setOnActions:
    - actions: [read]
      setProperties:
        - { name: wanted, valueString: "{{ input }}" }
    - actions: [write]
      setProperties:
        - { name: text, valueString: "{{ input }}" }

# Which server to ask. One at a private address must be named in the setting egress.privateHosts.
httpcalls:
${aboutSecret}  targetServerUrl: ${quoted(server)}
  httpCalls:
    - name: read
      actions: [read]
      saveResponse: true
      responseObjectName: found
      request:
        path: ${quoted(`${readPath}/{{ properties.wanted }}`)}
${headers}    # A call that changes something is made once, whatever happens to the platform meanwhile.
    - name: write
      actions: [write]
      saveResponse: true
      responseObjectName: written
      request:
        method: POST
        path: ${quoted(writePath)}
${headers}        contentType: application/json
        body: '{"text": "{{ properties.text }}"}'

# What to say when an action is raised. httpCalls has the answers of the calls of this turn.
output:
  outputSet:
${says('greet', 'What can I do for you?')}${quickReplies([
  { value: 'Look something up', expressions: READ },
  { value: 'Add something', expressions: WRITE },
])}${says('ask_wanted', 'What are you looking for?')}${says('read', '{% if httpCalls.foundError %}I did not find {{ properties.wanted }}.{% else %}{{ httpCalls.found | json }}{% endif %}')}${says('ask_text', 'What is to be added?')}${says('write', '{% if httpCalls.writtenError %}That could not be added.{% else %}It is added.{% endif %}')}${says('help', 'I look things up, and add new ones.')}`;
}
