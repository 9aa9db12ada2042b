import { z } from 'zod';
import { PlatformError } from '../kernel/errors.ts';
import { createSafeFetch } from '../kernel/safe-fetch.ts';
import type { Remark } from './finding.ts';

const TIME_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const metadataSchema = z.object({ issuer: z.string() });

/** Does the OpenID realm of the settings answer, under the name that its tokens will have? Nothing where there is none. */
export async function examineRealm({
  issuer,
  tokenIssuer = issuer,
}: {
  readonly issuer?: string | undefined;
  readonly tokenIssuer?: string | undefined;
}): Promise<readonly Remark[]> {
  if (issuer === undefined) return [];
  const fetch = createSafeFetch({
    allowPrivate: () => true,
    limits: { totalMs: TIME_MS, maxBytes: MAX_BYTES },
  });
  try {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await fetch(address, { hostFrom: 'operator', redirect: 'error' });
    if (answer.status !== 200) return [silent(issuer, `it answers ${answer.status}`)];
    const { issuer: name } = metadataSchema.parse(await answer.json());
    if (name === issuer || name === tokenIssuer)
      return [{ verdict: 'ok', says: `The OpenID realm ${issuer} answers.` }];
    return [
      {
        verdict: 'problem',
        says: `The OpenID realm ${issuer} calls itself by another name, so none of its tokens is taken; set PATCHBAY_OIDC_TOKEN_ISSUER to that name if it is yours.`,
      },
    ];
  } catch (thrown) {
    return [silent(issuer, thrown instanceof PlatformError ? 'no connection' : 'no document of a realm')];
  } finally {
    await fetch.close();
  }
}

function silent(issuer: string, why: string): Remark {
  return {
    verdict: 'warning',
    says: `The OpenID realm ${issuer} does not answer (${why}): nobody of it can sign in until it does.`,
  };
}
