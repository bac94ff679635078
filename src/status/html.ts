/** HTML as values: a template that escapes every text unless it is HTML already. */

/** Markup that is safe to send. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes what stands in text or in quoted attributes. Control characters, which HTML cannot hold, show as U+FFFD. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']|(?![\t\n\r])\p{Cc}/gu, (character) => escapes[character] ?? '\uFFFD');
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}

/** `` html`<b>${name}</b>` ``: nothing for undefined and false, lists one after another. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, at) => part + render(values[at])).join(''));
}
