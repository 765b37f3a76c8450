// A function URL event (payload 2.0) as a fetch `Request`: raw and base64 bodies byte for byte, query, cookies, headers.

export interface HttpEvent {
  readonly version: '2.0';
  readonly rawPath: string;
  readonly rawQueryString?: string;
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly domainName: string;
    readonly http: { readonly method: string; readonly sourceIp?: string };
  };
}

/** The event if it came through a function URL; else an error that says what was sent, by its field names only. */
export function asHttpEvent(event: unknown): HttpEvent {
  const fields = typeof event === 'object' && event !== null ? event : {};
  const context = 'requestContext' in fields ? fields.requestContext : undefined;
  const isHttp = typeof context === 'object' && context !== null && 'http' in context && 'rawPath' in fields;
  if (isHttp) return event as HttpEvent; // the platform's own shape, checked by its marks
  throw new Error(
    `This function answers function URL events only (payload 2.0); got fields: ${Object.keys(fields).join(', ') || 'none'}.`,
  );
}

/** The request, or undefined where no HTTP client could have sent it (a header or path that is not one). */
export function toRequest(event: HttpEvent, signal: AbortSignal): Request | undefined {
  const { method } = event.requestContext.http;
  const query = event.rawQueryString ? `?${event.rawQueryString}` : '';
  const body = method === 'GET' || method === 'HEAD' ? null : bodyOf(event);
  try {
    const headers = headersOf(event);
    if (body !== null) headers.set('content-length', String(body.byteLength));
    const url = `https://${event.requestContext.domainName}${event.rawPath}${query}`;
    return new Request(url, { method, headers, body, signal });
  } catch {
    return undefined;
  }
}

function bodyOf({ body, isBase64Encoded }: HttpEvent): Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  return Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8');
}

/** Header values reach an app as bytes read as Latin-1, as Node gives them; the event has them as text. */
function headersOf({ headers = {}, cookies = [] }: HttpEvent): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result.set(name, Buffer.from(value, 'utf8').toString('latin1'));
  }
  if (cookies.length > 0) result.set('cookie', cookies.join('; '));
  return result;
}
