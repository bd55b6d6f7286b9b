// Adds the secrets of MCP servers to the redactor: headers, variables, and the tokens of logins.
import type { Redactor } from '../../guards/index.ts';
import type { StoredMcpLogin, McpServer, McpTokenStore } from '../../tools/mcp/index.ts';
import { isSecretVariable } from '../../workspace/index.ts';

/** Headers without credentials. */
const publicHeaders = /^(accept|content-type|user-agent|mcp-protocol-version|origin|referer)(-|$)/i;

/** Adds the credentials of a server to the redactor. */
export function redactServerSecrets({ name, transport }: McpServer, redactor: Redactor): void {
  const addSecret = (key: string, value: string): void => {
    // A reference to a variable is not a secret, and the variable itself is known.
    if (!value.includes('${')) redactor.addSecret(`${key} of ${name}`, value);
  };
  if (transport.type === 'stdio')
    for (const [key, value] of Object.entries(transport.env)) if (isSecretVariable(key, value)) addSecret(key, value);
  if (transport.type === 'stdio' || transport.type === 'in-process') return;
  for (const [key, value] of Object.entries(transport.headers)) if (!publicHeaders.test(key)) addSecret(key, value);
  if (transport.login?.clientSecret !== undefined) addSecret('clientSecret', transport.login.clientSecret);
}

/** Wraps a token store so that every token read or written is added to the redactor. */
export function withTokenRedaction(store: McpTokenStore, redactor: Redactor): McpTokenStore {
  const withRedactedTokens = (login: StoredMcpLogin): StoredMcpLogin => {
    const { access_token: access, refresh_token: refresh, id_token: id } = login.tokens ?? {};
    const client = login.client && 'client_secret' in login.client ? login.client.client_secret : undefined;
    for (const value of [access, refresh, id, client]) if (value !== undefined) redactor.addSecret('login', value);
    return login;
  };
  return {
    ...store,
    get: (url) => withRedactedTokens(store.get(url)),
    set: (url, login) => store.set(url, withRedactedTokens(login)),
  };
}
