import { describe, expect, it } from 'vitest';
import { readServerOptions } from '../../connections/server/server-options.ts';
import { compileText } from '../../secrets/reference-text.ts';
import { mcpcallsDocument } from './mcpcalls.ts';
import { registeredServer } from './registered-server.ts';

const document = (members: object) =>
  mcpcallsDocument.body.parse({ mcpServerUrl: 'patchbay:servers/notes', ...members });
const definition = (options: object) =>
  readServerOptions(
    { url: 'https://notes.example.com/mcp', ...options },
    {
      ref: { scope: 'default', name: 'notes' },
      source: 'data',
      texts: { compile: (text: string) => compileText(text, () => true) },
    },
  );

describe('A document that uses a registered server', () => {
  it('narrows what it offers, and widens nothing', () => {
    const limited = definition({ only: ['search'], except: ['drop'] });
    const own = registeredServer(
      document({ toolsWhitelist: ['search', 'erase'], toolsBlacklist: ['list'], exposeResources: true }),
    )!.narrow(limited);
    expect(own).toMatchObject({ only: ['search'], except: ['drop', 'list'], exposeResources: false });
  });

  it('may read the resources of a server that is not limited to some tools', () => {
    const own = registeredServer(document({ exposeResources: true }))!.narrow(
      definition({ except: ['drop'] }),
    );
    expect(own).toMatchObject({ only: undefined, exposeResources: true });
  });
});
