// Adds logins to a tool that sends requests: the token is added to the request and redacted from the response.
import {
  FairleadError,
  isObject,
  isToolOutput,
  toolOutput,
  toJson,
  type JsonObject,
  type ToolOutput,
  type Tool,
} from '../../core/index.ts';
import type { GetToken } from './api-login.ts';

type AuthenticatedRequest = JsonObject & { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** Returns the tool with the input `auth`, the name of a login. */
export const withAuth = (tool: Tool, tokenFor: GetToken): Tool => ({
  ...tool,
  description: `${tool.description} With auth, the token of that login is sent.`,
  input: {
    ...tool.input,
    properties: {
      ...(tool.input['properties'] as JsonObject),
      auth: { type: 'string', maxLength: 60, description: 'The name of a login created by oauth_login.' },
    },
  },
  async execute(input, context) {
    const { auth, ...request } = input as AuthenticatedRequest & { readonly auth?: string };
    if (auth === undefined) return tool.execute(input, context);
    const { url, headers = {} } = request as AuthenticatedRequest;
    if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
      throw new FairleadError('oauth/two-logins', 'Give auth or an Authorization header, not both.', {
        blame: 'model',
      });
    const send = async (token: string): Promise<unknown> => {
      const value = await tool.execute(
        { ...request, headers: { ...headers, Authorization: `Bearer ${token}` } },
        context,
      );
      return isToolOutput(value) ? withoutToken(token, value) : value;
    };
    const token = await tokenFor(auth, url, { signal: context.signal });
    const first = await send(token);
    if (!isUnauthorized(first, url)) return first;
    const fresh = await tokenFor(auth, url, { signal: context.signal, refused: token });
    return send(fresh);
  },
});

/** Returns true if the API itself rejected the token. After a redirect to another origin no token was sent. */
function isUnauthorized(value: unknown, url: string): boolean {
  const { status, url: from } = isToolOutput(value) && isObject(value.data) ? value.data : {};
  return status === 401 && typeof from === 'string' && new URL(from).origin === new URL(url).origin;
}

/** Removes the token from the output, because a server may echo it. */
function withoutToken(token: string, { text, data, ...rest }: ToolOutput): ToolOutput {
  const removeToken = (text: string): string => text.replaceAll(token, '[the token]');
  return toolOutput({
    ...rest,
    text: removeToken(text),
    ...(data === undefined ? {} : { data: toJson(JSON.parse(removeToken(JSON.stringify(data)))) }),
  });
}
