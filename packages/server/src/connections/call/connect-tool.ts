import { formatServerRef, type ServerDefinition } from '../server/definition.ts';
import type { ServerView } from '../server/server-view.ts';
import { readAnnotations } from '../tool/annotations.ts';
import type { RemoteTool } from '../tool/remote-tool.ts';
import type { Ended } from './outcome.ts';

const CONNECT = 'connect';

/** The one tool of a server that nobody has connected to yet, `<prefix>__connect`: with it an agent starts the sign-in of its person (W-82, W-85). */
function connectToolOf({ ref, prefix }: ServerDefinition): RemoteTool {
  return {
    name: nameIn({ ref, prefix }),
    description: `Connects to ${ref.name} as the person you work for, who signs in there once. Then its tools are there.`,
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
  };
}

/** Without a prefix the name says by itself whose it is. */
function nameIn({ ref, prefix }: Pick<ServerDefinition, 'ref' | 'prefix'>): string {
  return prefix === '' ? `${ref.name}__${CONNECT}` : CONNECT;
}

/** May a call mean that tool? A server may have one of that name itself. */
export function isConnectTool(definition: ServerDefinition, tool: string): boolean {
  return definition.auth.kind === 'principal' && tool === nameIn(definition);
}

const views = new WeakMap<ServerDefinition, ServerView>();

/** The view of a server that offers nothing else; the same for the same definition. */
export function connectView(definition: ServerDefinition): ServerView {
  let view = views.get(definition);
  if (!view) {
    const tool = connectToolOf(definition);
    const tools = new Map([[tool.name, tool]]);
    view = {
      ...{ offered: tools, known: tools, quarantined: [], shortcomings: [] },
      ...{ changes: new Map(), held: new Set() },
      standing: one => ({ annotations: readAnnotations(one), cameLater: false }),
      whyNot: name =>
        `nobody has connected to ${formatServerRef(definition.ref)} yet, so there is only "${tool.name}", and no "${name}"`,
    };
    views.set(definition, view);
  }
  return view;
}

/** What the tool answers when its person has signed in (W-84). */
export function connected({ ref }: ServerDefinition, { offered }: ServerView): Ended {
  const count = offered.size === 1 ? 'one tool' : `${offered.size} tools`;
  const text = `Connected to ${ref.name}, which offers ${count}. Call them from your next turn on.`;
  return {
    kind: 'answered',
    result: { value: text, text, isError: false, cut: false, outside: false, suspicious: [] },
  };
}
