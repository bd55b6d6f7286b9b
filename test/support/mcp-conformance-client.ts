// The client that the MCP conformance suite drives: opens the server at the given URL and calls every tool once, with the product's own code.
import {
  CrossAppAccessProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client';
import { memoryTrust } from '../../src/guards/index.ts';
import { openMcp, type McpRemoteConfig } from '../../src/tools/mcp/index.ts';
import { createNetworkFetch } from '../../src/workspace/index.ts';

type Context = Readonly<Record<string, string | undefined>>;

const url = process.argv.at(-1) ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';

function createRemote(): McpRemoteConfig {
  const remote = { type: 'http', url, headers: {} } as const;
  const { client_id: clientId = '', client_secret: clientSecret = '' } = context;
  if (scenario === 'auth/client-credentials-basic')
    return { ...remote, login: { grant: 'client-credentials', clientId, clientSecret } };
  if (scenario === 'auth/client-credentials-jwt') {
    const { private_key_pem: privateKey = '', signing_algorithm: algorithm = 'ES256' } = context;
    return { ...remote, auth: new PrivateKeyJwtProvider({ clientId, privateKey, algorithm }) };
  }
  if (scenario === 'auth/cross-app-access-complete-flow') return { ...remote, auth: createCrossAppProvider() };
  // Its authorization server of early 2025 has an issuer that differs from its URL.
  if (scenario === 'auth/2025-03-26-oauth-metadata-backcompat') return { ...remote, login: { checkIssuer: false } };
  if (scenario === 'auth/pre-registration') return { ...remote, login: { clientId, clientSecret } };
  return { ...remote, login: { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' } };
}

function createCrossAppProvider(): CrossAppAccessProvider {
  const {
    client_id: clientId = '',
    client_secret: clientSecret = '',
    idp_id_token: idToken = '',
    idp_client_id: idpClientId = '',
    idp_token_endpoint: tokenEndpoint = '',
  } = context;
  return new CrossAppAccessProvider({
    clientId,
    clientSecret,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken,
        clientId: idpClientId,
        ...(scope === undefined ? {} : { scope }),
        fetchFn,
      });
      return jwtAuthGrant;
    },
  });
}

const mcp = await openMcp([{ name: 'conformance', origin: 'user', source: 'conformance', transport: createRemote() }], {
  trust: memoryTrust(),
  network: createNetworkFetch({ privateHosts: ['localhost', '127.0.0.1'] }),
  elicit: () => Promise.resolve({ type: 'accept', content: {} }),
  // The browser of the user: follows the login page back to the redirect.
  openUrl: async (_server, page) => {
    const { headers } = await fetch(page, { redirect: 'manual' });
    await fetch(headers.get('location') ?? '');
  },
});
const [status] = mcp.status();
console.log(JSON.stringify(status));
for (const tool of mcp.tools.filter(({ name }) => name.startsWith('mcp__'))) {
  const answer = await tool.execute({ a: 5, b: 3 }, { signal: AbortSignal.timeout(20_000) } as never);
  console.log(tool.name, JSON.stringify(answer));
}
await mcp.close();
process.exitCode = status?.state === 'ready' ? 0 : 1;
