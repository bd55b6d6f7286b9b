// Tells the keeper of secrets what MCP servers are given: headers, variables, and the tokens of their logins as they come.
import type { Redactor } from '../../guards/index.ts';
import type { StoredMcpLogin, McpServer, McpTokenStore } from '../../tools/mcp/index.ts';
import { isSecretVariable } from '../../workspace/index.ts';

/** Headers that let nobody in. */
const publicHeaders = /^(accept|content-type|user-agent|mcp-protocol-version|origin|referer)(-|$)/i;

/** Learns what a server is given that lets somebody in. */
export function redactServerSecrets({ name, transport }: McpServer, secrets: Redactor): void {
  const learn = (key: string, value: string): void => {
    // What is named and not written here is a variable, which is known already.
    if (!value.includes('${')) secrets.addSecret(`${key} of ${name}`, value);
  };
  if (transport.type === 'stdio')
    for (const [key, value] of Object.entries(transport.env)) if (isSecretVariable(key, value)) learn(key, value);
  if (transport.type === 'stdio' || transport.type === 'in-process') return;
  for (const [key, value] of Object.entries(transport.headers)) if (!publicHeaders.test(key)) learn(key, value);
  if (transport.login?.clientSecret !== undefined) learn('clientSecret', transport.login.clientSecret);
}

/** The store, with every token that is taken from it or put into it learnt. */
export function withTokenRedaction(store: McpTokenStore, secrets: Redactor): McpTokenStore {
  const learnt = (login: StoredMcpLogin): StoredMcpLogin => {
    const { access_token: access, refresh_token: refresh, id_token: id } = login.tokens ?? {};
    const client = login.client && 'client_secret' in login.client ? login.client.client_secret : undefined;
    for (const value of [access, refresh, id, client]) if (value !== undefined) secrets.addSecret('login', value);
    return login;
  };
  return { ...store, get: (url) => learnt(store.get(url)), set: (url, login) => store.set(url, learnt(login)) };
}
