// The http_request tool: sends any HTTP request and shows the response as untrusted text.
import { toolOutput, wrapUntrusted, truncateMiddle, type Tool, type Workspace } from '../../core/index.ts';
import { fetchViaWorkspace, decodeBodyText, contentType } from './fetch.ts';

const maxBodyChars = 30_000;
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

type HttpRequestInput = {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Creates the http_request tool. */
export const httpRequest = (workspace: Workspace): Tool => ({
  name: 'http_request',
  description: 'Send an HTTP request. Returns the status, headers and body of the response.',
  input: {
    type: 'object',
    properties: {
      url: { type: 'string', maxLength: 8000 },
      method: { type: 'string', enum: methods, description: 'Default GET.' },
      headers: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 50 },
      body: { type: 'string', maxLength: 1_000_000 },
    },
    required: ['url'],
    additionalProperties: false,
  },
  effect: 'external',
  untrustedOutput: true,
  async execute(input, { signal }) {
    const fetched = await fetchViaWorkspace(workspace, input as HttpRequestInput, signal);
    const { status, url, headers, body, truncated } = fetched;
    const text =
      decodeBodyText(fetched) ??
      `(This is not text but ${contentType(fetched) || 'of an unknown type'}, ${body.length} bytes.)`;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const { neutralizeText } = await import('./shown-text.ts');
    const answer = neutralizeText(`${lines.join('\n')}\n\n${truncateMiddle(text, maxBodyChars)}`);
    return toolOutput({
      text: `Status ${status}.${truncated ? ' The body is longer and was truncated.' : ''}\n${wrapUntrusted(url, answer)}`,
      failed: status >= 400,
      data: { status, url, headers, bytes: body.length },
    });
  },
});
