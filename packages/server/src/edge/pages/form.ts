import { html, raw } from 'hono/html';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { type BodyRefusal, readTextBody } from '../http/body.ts';
import type { Html } from './layout.ts';
import type { Words } from './words.ts';

/** What a person typed or chose. */
export interface Form {
  /** Its one value; empty when it is missing or stands there several times. */
  one(name: string): string;
  /** Of a field that may be chosen several times. */
  all(name: string): readonly string[];
}

/** A form of ours is far smaller. */
const MAX_FORM_BYTES = 64 * 1024;
const MAX_FIELDS = 1_000;

/** The body as a form sends it. */
export async function readForm(
  request: Request,
): Promise<Outcome<Form, BodyRefusal | { readonly reason: 'not_a_form'; readonly message: string }>> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    return refused({ reason: 'not_a_form', message: 'The body is not a form.' });
  const text = await readTextBody(request, MAX_FORM_BYTES);
  if (!text.ok) return text;
  const fields = new URLSearchParams(text.value);
  if (fields.size > MAX_FIELDS) return refused({ reason: 'not_a_form', message: 'Too many fields.' });
  return granted({
    one(name) {
      const [value = '', ...others] = fields.getAll(name);
      return others.length === 0 ? value : '';
    },
    all: name => fields.getAll(name),
  });
}

/** A field that carries something along. */
export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** Where a person types something. */
export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'password';
  /** What browsers may fill in. */
  readonly autocomplete: string;
  readonly hint?: string;
  readonly value?: string;
  /** What is wrong with what they typed. */
  readonly problem?: string | undefined;
  /** The cursor begins here. */
  readonly first?: boolean;
  readonly maxLength?: number;
}

export function field(options: FieldOptions): Html {
  const {
    name,
    label,
    type = 'text',
    autocomplete,
    hint,
    value = '',
    problem,
    first,
    maxLength = 300,
  } = options;
  const describedBy = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint ? html`<span class="hint" id="${name}-hint">${hint}</span>` : ''}
${problem ? html`<span class="wrong" id="${name}-problem">${problem}</span>` : ''}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}" maxlength="${maxLength}" required${
    describedBy ? html` aria-describedby="${describedBy}"` : ''
  }${problem ? raw(' aria-invalid="true"') : ''}${first ? raw(' autofocus') : ''}${
    type === 'text' ? raw(' autocapitalize="none" spellcheck="false"') : ''
  }>
</div>`;
}

/** What is wrong with a form, above it: read out at once, and each problem leads to its field. */
export function problems(
  words: Words,
  found: readonly { readonly field: string; readonly text: string }[],
): Html | '' {
  if (found.length === 0) return '';
  return html`<div class="problems" role="alert" tabindex="-1" autofocus>
<h2>${words.page.problems}</h2>
<ul>${found.map(each => html`<li><a href="#${each.field}">${each.text}</a></li>`)}</ul>
</div>`;
}
