import { createHmac } from 'node:crypto';
import type { Client, Interaction, Provider } from 'oidc-provider';
import { agentScopeForClients, mayUseAgent } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sameBytes } from '../../kernel/digest.ts';
import { newGrantId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { Audit } from '../../records/audit/audit.ts';
import type { Store } from '../../store/store.ts';
import { type DescribedAgent, findAgent, listAgents } from '../../store/tables/agents.ts';
import { insertGrant } from '../../store/tables/grants.ts';
import type { ResourceName, Resources } from '../token/resource.ts';
import type { SigningKeys } from '../token/signing-keys.ts';
import { memoryPair } from './exchange.ts';
import { SHIPPED_CLIENT } from './provider.ts';
import { decideInteraction } from './records.ts';
import { formTarget, shownRedirect } from './redirect-uri.ts';

/** What a client asks a person for. What it says of itself is nobody's word but its own. */
export interface ConsentRequest {
  readonly client: {
    readonly id: string;
    readonly name: string | undefined;
    readonly uri: string | undefined;
    /** Whose document describes it: the one thing about it that was checked. */
    readonly host: string | undefined;
  };
  /** Where the browser goes back to: host and port, or the scheme of an app. */
  readonly redirect: string;
  /** The same for the policy of the page. */
  readonly leadsTo: string;
  readonly resource: ResourceName;
  /** Only reading, at the operator door. */
  readonly readOnly: boolean;
  /** MCP-enabled agents that the person may use, of which they choose; of a request for one agent that one. */
  readonly agents: readonly DescribedAgent[];
  /** Goes into the form: fits this request, this person and this browser alone, until it is decided. */
  readonly proof: string;
}

/** `decided`: where the browser goes on to. */
export type ConsentRefusal =
  | { readonly reason: 'other-browser' }
  | { readonly reason: 'decided'; readonly location: string };

export type DecisionRefusal =
  | { readonly reason: 'other-browser' | 'bad-csrf' }
  /** Nothing was chosen, or something that is not there to choose. */
  | { readonly reason: 'no-agent' };

/** Which request: by its browser's cookies, and with the address that the browser was given to go on at where it still has it. */
export interface AskedBy {
  readonly cookie: string | undefined;
  readonly returnTo: string | undefined;
}

/** What people are asked for clients, each time anew, and what they decide. */
export interface Consents {
  /** Changes nothing: a page that is loaded twice is the same page. */
  look(asked: AskedBy, person: Principal): Promise<Outcome<ConsentRequest, ConsentRefusal>>;
  /** Decides once: sent twice, the first decision holds. Answers where the browser goes on to. */
  decide(
    asked: AskedBy,
    person: Principal,
    decision: { readonly proof: string; readonly allow: boolean; readonly agentIds: readonly string[] },
  ): Promise<Outcome<{ readonly location: string }, DecisionRefusal>>;
}

/** As many as a form may name. */
const MAX_AGENTS = 900;
/** What a person allows is asked for again after so long. */
const GRANT_MS = 90 * 24 * 3_600_000;

export function createConsents(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: Pick<Audit, 'note'>;
  readonly resources: Resources;
  readonly keys: SigningKeys;
  readonly provider: () => Promise<Provider>;
}): Consents {
  const { store, clock, audit, resources, keys } = deps;

  /** The sign-in that this very browser has begun. */
  async function find({ cookie, returnTo }: AskedBy) {
    const provider = await deps.provider();
    const { request, response } = memoryPair({ method: 'GET', url: '/mcp-login', cookie });
    const interaction = await provider.interactionDetails(request, response).catch(() => undefined);
    if (!interaction || (returnTo ?? interaction.returnTo) !== interaction.returnTo) return undefined;
    const client = await provider.Client.find(interaction.params.client_id ?? '').catch(() => undefined);
    return client && { interaction, client };
  }

  async function agentsFor(person: Principal, resource: ResourceName): Promise<readonly DescribedAgent[]> {
    const agents =
      resource.door === 'operator'
        ? []
        : resource.door === 'agent'
          ? [await findAgent(store.db, resource.agentId)]
          : await listAgents(store.db, { scope: agentScopeForClients(person), limit: MAX_AGENTS });
    return agents.flatMap(agent => (agent?.mcpEnabled && mayUseAgent(person, 'own', agent) ? [agent] : []));
  }

  const proofFor = ({ uid }: Interaction, person: Principal) =>
    createHmac('sha256', keys.cookie).update(`consent ${uid} ${person.id} ${person.credential}`).digest();

  return {
    async look(asked, person) {
      const found = await find(asked);
      if (!found) return refused({ reason: 'other-browser' });
      const { interaction, client } = found;
      if (interaction.result) return refused({ reason: 'decided', location: interaction.returnTo });
      const resource = resourceOf(interaction, resources);
      const redirect = interaction.params.redirect_uri ?? '';
      return granted({
        client: shownClient(client),
        redirect: shownRedirect(redirect),
        leadsTo: formTarget(redirect),
        resource,
        readOnly: resource.door === 'operator' && !scopesOf(interaction).includes('operator'),
        agents: await agentsFor(person, resource),
        proof: proofFor(interaction, person).toString('base64url'),
      });
    },

    async decide(asked, person, { proof, allow, agentIds }) {
      const found = await find(asked);
      if (!found) return refused({ reason: 'other-browser' });
      const { interaction, client } = found;
      const location = interaction.returnTo;
      if (interaction.result) return granted({ location });
      const given = Buffer.from(proof, 'base64url');
      const right = proofFor(interaction, person);
      if (!sameBytes(given, right)) return refused({ reason: 'bad-csrf' });
      const resource = resourceOf(interaction, resources);
      const offered = new Set((await agentsFor(person, resource)).map(({ id }) => id));
      const chosen = [...new Set(agentIds)];
      const isWhole = resource.door === 'operator' ? chosen.length === 0 : chosen.length > 0;
      if (allow && !(isWhole && chosen.every(id => offered.has(id)))) return refused({ reason: 'no-agent' });

      const now = clock.now();
      const { door } = resource;
      const grant = {
        ...{ id: newGrantId(), userId: person.id, clientId: client.clientId, agentIds: chosen },
        clientName: client.clientName ?? client.clientId,
        door: door === 'operator' ? door : ('agents' as const),
        scope: scopesOf(interaction)
          .filter(scope => scope !== 'openid')
          .join(' '),
        ...{ createdAt: now, expiresAt: now + GRANT_MS, revokedAt: undefined },
      };
      const decided = await store.commit(async db => {
        const isFirst = await decideInteraction(db, interaction.uid, allow ? allowed(grant) : DENIED, now);
        if (isFirst && allow) await insertGrant(db, grant);
        return isFirst;
      });
      if (decided) {
        await audit.note({
          ...{ userId: person.id, via: person.via, outcome: allow ? 'done' : 'refused' },
          operation: 'connect_application',
          subject: { door, clientId: client.clientId, ...(allow && { grantId: grant.id }) },
        });
      }
      return granted({ location });
    },
  };
}

const DENIED = { error: 'access_denied', error_description: 'The person did not allow it.' };

/** What the library goes on with. */
const allowed = (grant: { readonly id: string; readonly userId: string }) => ({
  login: { accountId: grant.userId, remember: false },
  consent: { grantId: grant.id },
});

function shownClient({ clientId, clientName, clientUri }: Client): ConsentRequest['client'] {
  const host = clientId === SHIPPED_CLIENT ? undefined : URL.parse(clientId)?.host;
  return { id: clientId, name: clientName, uri: clientUri, host };
}

function scopesOf({ params }: Interaction): readonly string[] {
  return (params.scope ?? '').split(' ');
}

function resourceOf({ params }: Interaction, resources: Resources): ResourceName {
  return resources.nameOf(params.resource ?? '') ?? { door: 'agents' };
}
