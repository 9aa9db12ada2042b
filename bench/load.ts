import { connect, type Socket } from 'node:net';

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials in use at once: each call shows the next one. */
  readonly authorizations?: readonly string[];
  /** The body each connection sends again and again; ids differ between connections, never within one. */
  readonly bodyOf: (connection: number) => string;
  /** Text every answer must contain: a bench that measures errors measures nothing. */
  readonly expects: string;
}

export interface LoadResult {
  readonly calls: number;
  readonly seconds: number;
  /** Ascending, in milliseconds, one a call. */
  readonly latencies: readonly number[];
}

/**
 * Calls one address over keep-alive connections, each sending its next call when the last one is answered, for the given
 * time. Raw sockets and prepared bytes, because the generator shares the cores with what it measures. Rejects at the first
 * answer that is not 200 with the expected text.
 */
export async function runLoad(target: Target, connections: number, seconds: number): Promise<LoadResult> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const workers = Array.from({ length: connections }, (_, index) =>
    callUntil(target, index, endsAt, latencies),
  );
  await Promise.all(workers);
  const took = (performance.now() - startedAt) / 1000;
  return { calls: latencies.length, seconds: took, latencies: latencies.sort((a, b) => a - b) };
}

/**
 * Makes calls in this process, so many at a time, each anew when the one before is answered, for the given time. Rejects at the first answer without the
 * expected text.
 */
export async function runCalls(
  call: () => Promise<unknown>,
  expects: string,
  atOnce: number,
  seconds: number,
): Promise<LoadResult> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const callAgain = async () => {
    for (let sentAt = startedAt; sentAt < endsAt; ) {
      sentAt = performance.now();
      const answer = await call();
      latencies.push(performance.now() - sentAt);
      const text = JSON.stringify(answer);
      if (!text.includes(expects)) throw new Error(`a call was answered with ${text}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, callAgain));
  const took = (performance.now() - startedAt) / 1000;
  return { calls: latencies.length, seconds: took, latencies: latencies.sort((a, b) => a - b) };
}

/** The value below which `share` (0 to 1) of the ascending values lie. */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}

function callUntil(target: Target, index: number, endsAt: number, latencies: number[]): Promise<void> {
  const url = new URL(target.url);
  const requests = (target.authorizations ?? [undefined]).map(authorization =>
    requestBytes(
      url,
      { ...target.headers, ...(authorization !== undefined && { Authorization: authorization }) },
      target.bodyOf(index),
    ),
  );
  let sent = index;
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    let received = '';
    let sentAt = 0;
    const send = () => {
      received = '';
      sentAt = performance.now();
      socket.write(requests[sent++ % requests.length]!);
    };
    const fail = (reason: string) => {
      socket.destroy();
      reject(new Error(`${target.url}: ${reason}`));
    };
    socket.setEncoding('latin1');
    socket.on('connect', send);
    socket.on('error', error => fail(error.message));
    socket.on('end', () => fail('the server closed a connection.'));
    socket.on('data', text => {
      received += text;
      const answer = readAnswer(received);
      if (!answer) return;
      const now = performance.now();
      latencies.push(now - sentAt);
      if (answer.status !== 200 || !answer.body.includes(target.expects)) {
        fail(`answered ${answer.status} ${answer.body}`);
      } else if (now < endsAt) {
        send();
      } else {
        socket.destroy();
        resolve();
      }
    });
  });
}

function requestBytes(url: URL, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** One whole HTTP/1.1 answer, or `undefined` while more must come. Bytes are latin1, so lengths are byte counts. */
export function readAnswer(received: string): { status: number; body: string } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = received.slice(0, headEnd);
  const status = Number(head.slice(9, 12));
  const bodyAt = headEnd + 4;
  const length = /^content-length: *(\d+)/im.exec(head);
  if (length) {
    const bodyEnd = bodyAt + Number(length[1]);
    return received.length >= bodyEnd ? { status, body: received.slice(bodyAt, bodyEnd) } : undefined;
  }
  return readChunks(received, bodyAt, status);
}

function readChunks(
  received: string,
  bodyAt: number,
  status: number,
): { status: number; body: string } | undefined {
  let body = '';
  for (let at = bodyAt; ; ) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(received.slice(at, lineEnd), 16);
    const dataAt = lineEnd + 2;
    if (received.length < dataAt + size + 2) return undefined;
    if (size === 0) return { status, body };
    body += received.slice(dataAt, dataAt + size);
    at = dataAt + size + 2;
  }
}
