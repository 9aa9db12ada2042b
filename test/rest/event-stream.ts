/** One server-sent event. */
export interface SentEvent {
  readonly name: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: data may be anything, tests look into it
  readonly data: any;
}

/** Reads an event stream as a browser does: across chunks, comments skipped, several data lines joined. */
export async function* eventsOf(response: Response): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let waiting = '';
  for await (const chunk of response.body!) {
    waiting += decoder.decode(chunk, { stream: true });
    for (let end = waiting.indexOf('\n\n'); end !== -1; end = waiting.indexOf('\n\n')) {
      const event = parseEvent(waiting.slice(0, end));
      waiting = waiting.slice(end + 2);
      if (event) yield event;
    }
  }
}

/** All of it, until the platform ends the stream. */
export async function allEvents(response: Response): Promise<SentEvent[]> {
  const events: SentEvent[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

function parseEvent(block: string): SentEvent | undefined {
  const fields = block
    .split('\n')
    .filter(line => !line.startsWith(':'))
    .map(line => /^(\w+): ?(.*)$/.exec(line)!);
  const value = (name: string) => fields.find(([, field]) => field === name)?.[2];
  const data = fields.filter(([, field]) => field === 'data').map(([, , text]) => text);
  if (data.length === 0) return undefined;
  return { name: value('event') ?? 'message', id: value('id'), data: JSON.parse(data.join('\n')) };
}
