import { DO_WITHOUT } from '../../../../connections/call/budget.ts';
import {
  type ApprovalBinding,
  type CallRecord,
  type RefusalCode,
  wordsFor,
} from '../../../../connections/call/outcome.ts';
import type { ToolAnnotations } from '../../../../connections/tool/annotations.ts';
import { exposeTools } from '../../../../connections/tool/exposed-name.ts';
import { cut } from '../../../../connections/tool/govern-text.ts';
import { sha256OfJson } from '../../../../kernel/digest.ts';
import { containsReference } from '../../../../secrets/reference-text.ts';
import type { CompiledText } from '../../../../secrets/references.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import type { Background } from '../http/background.ts';
import { type CallTurn, type PreparedCall, prepareCalls, sendCall, settleCall } from '../http/call.ts';
import { keptRequest } from '../http/exchange.ts';
import { type HttpCall, type HttpcallsDocument, isSafe } from '../http/http-call.ts';
import { type HttpOutcome, type NotAnswered, notAnswered } from '../http/outcome.ts';
import { type BuiltRequest, buildRequest, isSentAsCaller } from '../http/request-template.ts';
import { instruct } from '../instructions.ts';
import type { TemplateCache } from '../template.ts';
import { turnData, withValue } from '../turn-data.ts';
import type { Approval, ListedTool, Made, ToolSource } from './callable-tool.ts';
import { endedBy, recordWords } from './http-outcome.ts';
import { whyNotApproved } from './own-approval.ts';
import { OVERSPENT, type Purse } from './purse.ts';

/** A call of an httpcalls document that a model may make. */
export interface HttpTool extends ListedTool {
  readonly prepared: PreparedCall;
}

/**
 * The calls of documents that have `parameters`, as tools under their own names (platform.md 3.5). `warn` is told of those that no name is left
 * for. Throws a `PlatformError` of kind `invalid`: see `compileRequest`.
 */
export function listHttpTools(
  documents: readonly HttpcallsDocument[],
  compile: (text: string) => CompiledText,
  warn: (sentence: string) => void,
): readonly HttpTool[] {
  const offers = documents.map(document => ({
    server: { scope: 'http', name: serverOf(document) },
    calls: new Map(
      prepareCalls(document, compile)
        .filter(({ call }) => isTool(call, warn))
        .map(prepared => [prepared.call.name, prepared]),
    ),
  }));
  const { byName, setAside } = exposeTools(
    offers.map(({ server, calls }) => ({ server, prefix: '', tools: [...calls.keys()] })),
  );
  for (const { reason } of setAside) warn(reason);
  return [...byName].map(([name, exposed]) => {
    const { server, calls } = offers.find(offer => offer.server === exposed.server)!;
    return listed(name, server.name, calls.get(exposed.tool)!);
  });
}

function isTool({ name, parameters, isBatchCalls }: HttpCall, warn: (sentence: string) => void): boolean {
  if (parameters && isBatchCalls)
    warn(
      `The model does not get the HTTP call ${name}: it has isBatchCalls, and a model makes one call at a time.`,
    );
  return parameters !== undefined && !isBatchCalls;
}

/** The host, where the configuration writes it out. */
function serverOf({ targetServerUrl }: HttpcallsDocument): string {
  return URL.parse(targetServerUrl)?.host || targetServerUrl;
}

function listed(name: string, server: string, prepared: PreparedCall): HttpTool {
  const { name: tool, description = '', parameters = {}, request } = prepared.call;
  const { method, path } = request;
  const properties = Object.entries(parameters).map(([parameter, says]) => [
    parameter,
    { type: 'string', ...(says !== '' && { description: says }) },
  ]);
  return {
    ...{ name, description, server, tool, prepared },
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: Object.keys(parameters),
      additionalProperties: false,
    },
    named: { source: 'http', exposedName: name, name: tool, http: { method, path } },
    lost: {
      ...{ server, tool, outcome: 'OUTCOME_UNKNOWN', reached: 'unknown' },
      ...{ durationMs: 0, attempts: 1, costUsd: undefined },
    },
  };
}

/** What would be another call than the one that was approved, in words. */
const PARTS: Readonly<Record<keyof ApprovalBinding, string>> = {
  server: 'where it is sent, or with which credentials,',
  tool: 'what it sends',
  arguments: 'its arguments',
  person: 'the person for whom it is made',
  policy: 'what the agent asks of such calls',
};
const MAX_SHOWN_URL = 500;

export interface HttpToolsTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly approvals: ToolApprovals;
  readonly purse: Purse;
  readonly templates: TemplateCache;
  readonly background: Background;
}

/**
 * The HTTP calls of an agent for its model: the same requests, limits and instructions as when a rule makes them. An argument is a value in the
 * templates of its call, and never a template or a reference itself. What is approved is the request as it would be sent, and compared when
 * it is (platform.md 5.3).
 */
export function httpTools(listedTools: readonly HttpTool[], turn: HttpToolsTurn): ToolSource<HttpTool> {
  return {
    list: async () => ({ tools: listedTools, away: [] }),

    call: (tool, args, { approval }) =>
      turn.purse.pay(tool, false, () => callOnce(tool, args, approval, turn)),

    async settle({ prepared }, args, made) {
      const outcome = made.own as HttpOutcome;
      const texts = textsOf(prepared.call, args);
      if (typeof texts !== 'string') await settleCall(prepared, callTurn(turn, turn.memory, texts), outcome);
      return { ...endedBy(outcome), record: made.record };
    },
  };
}

async function callOnce(
  tool: HttpTool,
  args: Readonly<Record<string, unknown>>,
  approval: Approval | undefined,
  turn: HttpToolsTurn,
): Promise<Made> {
  const { prepared, named } = tool;
  const { clock } = turn.tools;
  const startedAt = clock.now();
  let attempts = 0;
  const record = (words: Pick<CallRecord, 'outcome' | 'reached'>): CallRecord => ({
    ...{ server: tool.server, tool: tool.tool, attempts, costUsd: undefined, ...words },
    durationMs: Math.max(0, Math.round(clock.now() - startedAt)),
  });
  const own = (outcome: HttpOutcome): Made => {
    return { kind: 'own', own: outcome, record: record(recordWords(outcome)) };
  };
  const refuse = (code: RefusalCode, message: string): Made => {
    const refused = { kind: 'refused', code, message } as const;
    return { ...refused, record: record(wordsFor(refused)) };
  };

  if (turn.purse.isEmpty) return refuse('BUDGET_EXCEEDED', OVERSPENT);
  const texts = textsOf(prepared.call, args);
  if (typeof texts === 'string') return refuse('INVALID_ARGUMENTS', texts);
  const judged = turn.approvals.judge({ ...named, annotations: annotationsOf(prepared.call) });
  if (judged.verdict === 'deny') {
    return refuse('DENIED', `this agent may not call "${tool.name}": ${judged.reason}; do without it`);
  }
  if (judged.verdict === 'ask' && isSentAsCaller(prepared.request)) {
    return refuse(
      'DENIED',
      `a person must approve calls of "${tool.name}": ${judged.reason}; and it is sent as whoever talks to the agent, which a call that waits cannot be; do without it`,
    );
  }
  const { agentId } = turn.tools.conversation;
  const often = await turn.tools.mcp.tooOften({ agentId, server: `http ${tool.server}`, tool: tool.tool });
  if (often !== undefined) return refuse('RATE_LIMITED', `${often}; ${DO_WITHOUT}`);
  const apart = await readied(prepared, texts, turn);
  if (judged.verdict === 'ask' && !approval) {
    const built = await buildRequest(prepared.request, apart);
    if (built.kind === 'failed') return own(built);
    return {
      ...{ kind: 'needs-approval', arguments: texts, inputSchema: tool.inputSchema, serverAsks: false },
      binding: bindingOf(built, texts, turn),
      reason: `${judged.reason}; it would send ${shown(built)}`,
      matchedRule: judged.rule,
      record: record({ outcome: 'needs_approval', reached: 'no' }),
    };
  }
  const approved = approval && (await forTheseTexts(approval, prepared, texts, turn));
  const check = (built: BuiltRequest): NotAnswered | undefined => {
    const refused = approved && whyNotApproved(approved, bindingOf(built, texts, turn), clock.now(), PARTS);
    if (refused) return notAnswered(refused.code, refused.message, false);
    attempts += 1;
    return undefined;
  };
  return own(await sendCall(prepared, { ...apart, check }, `the tool "${tool.name}"`));
}

function callTurn(
  { tools, templates, background }: HttpToolsTurn,
  memory: TurnMemory,
  texts: Texts,
): CallTurn {
  const data = Object.entries(texts).reduce(
    (members, [name, text]) => withValue(members, name, text),
    turnData(memory, tools),
  );
  return { memory, tools, templates, background, data, journaled: false };
}

/** A turn of its own for a call that is made beside others, with what is to be done before the call done in it. */
async function readied(prepared: PreparedCall, texts: Texts, turn: HttpToolsTurn): Promise<CallTurn> {
  const apart = callTurn(turn, besides(turn.memory), texts);
  await instruct(prepared.before, apart);
  return apart;
}

/**
 * Whoever has written other arguments has approved all else of the request: where it is still the one that was shown, with the arguments that
 * were, the approval is of the request with these.
 */
async function forTheseTexts(
  approval: Approval,
  prepared: PreparedCall,
  texts: Texts,
  turn: HttpToolsTurn,
): Promise<Approval> {
  const before = approval.shown && textsOf(prepared.call, approval.shown);
  if (before === undefined || typeof before === 'string') return approval;
  const digestFor = async (those: Texts) => {
    const built = await buildRequest(prepared.request, await readied(prepared, those, turn));
    return built.kind === 'built' ? bindingOf(built, those, turn).tool : undefined;
  };
  if ((await digestFor(before)) !== approval.tool) return approval;
  return { ...approval, tool: (await digestFor(texts)) ?? approval.tool };
}

/**
 * The memory for a call that is made beside others: it sees the turn as it was before them, and changes nothing of it. What the call changes is
 * done again behind it, in the order of the calls (`settle`).
 */
function besides(memory: TurnMemory): TurnMemory {
  const properties: Record<string, unknown> = { ...memory.properties };
  return Object.create(memory, {
    properties: { value: properties },
    setProperty: {
      value: (name: string, value: unknown) => {
        properties[name] = value;
      },
    },
    calls: { value: { ...memory.calls } },
    remember: { value: () => undefined },
  }) as TurnMemory;
}

type Texts = Readonly<Record<string, string>>;

/** Of all arguments of a call together. */
const MAX_CHARACTERS = 100_000;

/** The arguments, every one that the call has, or what is wrong with them as a phrase. */
function textsOf({ parameters = {} }: HttpCall, args: Readonly<Record<string, unknown>>): Texts | string {
  const unknown = Object.keys(args).find(name => !Object.hasOwn(parameters, name));
  if (unknown !== undefined) return `there is no argument ${JSON.stringify(cut(unknown, 100))}`;
  const texts: Record<string, string> = {};
  let characters = 0;
  for (const name of Object.keys(parameters)) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return `the argument "${name}" must be a text`;
    texts[name] = String(value);
    characters += texts[name].length;
    if (containsReference(texts[name]))
      return `the argument "${name}" holds a reference to a secret or a variable, and only the configuration may write one`;
  }
  return characters <= MAX_CHARACTERS
    ? texts
    : `the arguments have ${characters} characters, and ${MAX_CHARACTERS} are the most`;
}

/** As HTTP means its methods (RFC 9110, 9.2). */
function annotationsOf(call: HttpCall): ToolAnnotations {
  const { method } = call.request;
  return {
    readOnly: isSafe(call),
    idempotent: isSafe(call) || method === 'PUT' || method === 'DELETE',
    ...(method === 'DELETE' && { destructive: true }),
  };
}

function shown(built: BuiltRequest): string {
  const { method, url } = keptRequest(built);
  return `${method} ${cut(url, MAX_SHOWN_URL)}`;
}

function bindingOf(
  { url, method, headers, body, secrets }: BuiltRequest,
  texts: Texts,
  { tools, approvals }: HttpToolsTurn,
): ApprovalBinding {
  return {
    server: sha256OfJson([url.origin, secrets]),
    tool: sha256OfJson([method, url.href, [...headers], body ?? null]),
    arguments: sha256OfJson(texts),
    person: sha256OfJson([tools.conversation.userId]),
    policy: sha256OfJson([approvals.policyVersion]),
  };
}
