// One request to a running service, as `REPRISE_URL` and `REPRISE_API_KEY` say; its errors in its own words.

/** The parsed answer. Throws an `Error` whose message is for people: what is not set, not reachable, or refused. */
export async function callService(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> {
  const url = process.env.REPRISE_URL || 'http://127.0.0.1:8787';
  const key = process.env.REPRISE_API_KEY;
  if (!key)
    throw new Error('set REPRISE_API_KEY to a key of the service (and REPRISE_URL, if it is not on this machine)');
  const response = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw new Error(`${url} cannot be reached: ${error.cause instanceof Error ? error.cause.message : error.message}`);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${errorMessageIn(text)}`);
  return JSON.parse(text);
}

function errorMessageIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 200);
  }
}
