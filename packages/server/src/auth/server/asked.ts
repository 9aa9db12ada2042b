import type { ResourceName, Resources } from '../token/resource.ts';
import { scopeAskedFor } from './scopes.ts';

/** What of an authorization request is looked at. */
const AUTHORIZATION_PARAMETERS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
];

/**
 * An authorization request as the library is asked it: the address of a door in the one spelling that tokens are for, the scopes that the door has,
 * and answers in the query only. A parameter that stands there twice still does, and is refused.
 */
export function askedAuthorization(search: URLSearchParams, resources: Resources): URLSearchParams {
  const asked = new URLSearchParams();
  for (const name of AUTHORIZATION_PARAMETERS) {
    for (const value of search.getAll(name)) asked.append(name, value);
  }
  copyResources(search, asked, resources);
  asked.set('scope', scopeAskedFor(doorOf(search, resources), search.get('scope')));
  // A person is asked in any case, so only the wish that nobody is matters.
  if (search.get('prompt')?.split(' ').includes('none')) asked.set('prompt', 'none');
  const mode = search.get('response_mode');
  if (mode !== null && mode !== 'query') asked.set('response_mode', 'unsupported');
  return asked;
}

/** A token request with the address of a door in that same spelling. */
export function askedToken(form: URLSearchParams, resources: Resources): URLSearchParams {
  const asked = new URLSearchParams([...form].filter(([name]) => name !== 'resource'));
  copyResources(form, asked, resources);
  return asked;
}

function copyResources(from: URLSearchParams, to: URLSearchParams, resources: Resources): void {
  const addresses = from.getAll('resource').map(address => {
    const name = resources.nameOf(address);
    return name ? resources.addressOf(name) : address;
  });
  for (const address of new Set(addresses)) to.append('resource', address);
}

function doorOf(search: URLSearchParams, resources: Resources): ResourceName['door'] {
  return resources.nameOf(search.get('resource') ?? '')?.door ?? 'agents';
}
