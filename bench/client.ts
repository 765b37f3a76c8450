// One turn as a client sees it: a POST whose answer is a stream of server-sent events, read the same way for every target.

export interface TurnRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What a frame's `data` (and `event`) means: text of a delta, the end of the turn, or nothing of interest. */
  readonly read: (event: string, data: string) => { readonly text: string } | 'end' | undefined;
}

/** Times in milliseconds from just before the request was sent. */
export interface Turn {
  readonly firstDeltaMs: number;
  readonly endMs: number;
  /** Length of all delta text together. */
  readonly chars: number;
  /** When it was sent, milliseconds since 1970. */
  readonly sentAt: number;
}

/** Runs a turn to its end. Throws where the request is refused or the stream ends early. */
export async function runTurn({ url, headers, body, read }: TurnRequest): Promise<Turn> {
  const payload = JSON.stringify(body);
  const start = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: payload,
  });
  if (!response.ok || !response.body) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  let firstDeltaMs = Number.NaN;
  let endMs = Number.NaN;
  let chars = 0;
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const seen = read(fieldOf(frame, 'event'), fieldOf(frame, 'data'));
      if (seen === undefined) continue;
      const now = performance.now() - start;
      if (seen === 'end') endMs = now;
      else {
        chars += seen.text.length;
        if (Number.isNaN(firstDeltaMs)) firstDeltaMs = now;
      }
    }
  }
  if (Number.isNaN(endMs)) throw new Error(`${url}: the stream ended before the turn did; last: ${rest}`);
  return { firstDeltaMs, endMs, chars, sentAt: performance.timeOrigin + start };
}

/** A one-line field of a frame, '' where it has none. */
function fieldOf(frame: string, name: string): string {
  const line = frame.split('\n').find((l) => l.startsWith(`${name}:`));
  return line === undefined ? '' : line.slice(name.length + 1).trimStart();
}

/** A JSON request and its JSON answer. Throws where it is refused. */
export async function requestJson<T>(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: body instanceof FormData ? headers : { 'content-type': 'application/json', ...headers },
    body: body instanceof FormData ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
