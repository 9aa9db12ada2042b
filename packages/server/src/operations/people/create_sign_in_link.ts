import type { SignInLinks } from '../../auth/page/sign-in-links.ts';
import { maySignInElsewhere } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';
import { refuseKeys } from './refuse-keys.ts';

export function createSignInLink(links: SignInLinks): OperationHandler<'create_sign_in_link'> {
  return async (_input, { principal }) => {
    refuseKeys(maySignInElsewhere(principal), 'create_sign_in_link', 'sign-in');
    const { url, expiresAt } = await links.make(principal.id, 'sign-in');
    return { userId: principal.id, link: url, linkExpiresOn: expiresAt };
  };
}
