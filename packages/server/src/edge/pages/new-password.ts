import { html } from 'hono/html';
import { MAX_PASSWORD_CHARS, type PasswordRefusal } from '../../auth/user/password-rules.ts';
import { type Form, field } from './form.ts';
import type { Html } from './layout.ts';
import type { Words } from './words.ts';

/** What was wrong with a password that somebody chose. */
export type NewPasswordProblem = PasswordRefusal['reason'] | 'different';

/** The two fields in which a person chooses a password. Names are the user's so that browsers keep them together. */
export function newPasswordFields(
  words: Words,
  options: {
    readonly login: string | undefined;
    readonly problem?: NewPasswordProblem | undefined;
    readonly first: boolean;
  },
): Html {
  const { password: text } = words;
  const { login, problem, first } = options;
  const fieldOptions = {
    type: 'password',
    autocomplete: 'new-password',
    maxLength: MAX_PASSWORD_CHARS,
  } as const;
  return html`${
    login === undefined
      ? ''
      : html`<input type="text" name="username" value="${login}" autocomplete="username" hidden readonly>`
  }
${field({ ...fieldOptions, name: 'next', label: text.next, hint: text.hint, first, problem: problem && problem !== 'different' ? text[problem] : undefined })}
${field({ ...fieldOptions, name: 'again', label: text.again, problem: problem === 'different' ? text.different : undefined })}`;
}

/** What `problems` lists of it. */
export function newPasswordProblems(words: Words, problem: NewPasswordProblem | undefined) {
  if (problem === undefined) return [];
  return [{ field: problem === 'different' ? 'again' : 'next', text: words.password[problem] }];
}

/** The password that stands in both fields; `undefined` when they differ. */
export function newPasswordOf(form: Form): string | undefined {
  const next = form.one('next');
  return next === form.one('again') ? next : undefined;
}
