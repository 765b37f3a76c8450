// Server-sent events as a test sees them: every line counts, nothing is skipped.

export interface SseFrame {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

/** Feeds text, gives the frames that became complete; comments (`: …`) are left out. */
export function createSseParser(): (text: string) => readonly SseFrame[] {
  let rest = '';
  return (text) => {
    rest += text;
    const parts = rest.split('\n\n');
    rest = parts.pop() ?? '';
    return parts.map(parseFrame).filter((frame) => frame !== undefined);
  };
}

function parseFrame(block: string): SseFrame | undefined {
  let event: string | undefined;
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim();
    else if (line.startsWith('id:')) id = line.slice(3).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  if (event === undefined && id === undefined && data.length === 0) return undefined;
  return { event, id, data: data.join('\n') };
}

/** The frames of a streamed answer, in order, until it ends or the caller stops. */
export async function* readSse(response: Response): AsyncGenerator<SseFrame> {
  if (!response.body) return;
  const parse = createSseParser();
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    yield* parse(decoder.decode(chunk, { stream: true }));
  }
}
