// Tests of the redaction of secrets of MCP servers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor } from '../../guards/index.ts';
import { memoryMcpTokens } from '../../tools/mcp/index.ts';
import { withTokenRedaction, redactServerSecrets } from './mcp-redaction.ts';

test('[attack 87] header values, variables of servers and tokens of logins are redacted', () => {
  const secrets = createRedactor();
  const common = { name: 'shop', origin: 'user', source: 'mcp.json' } as const;
  const headers = { 'X-Shop': 'open sesame 1', accept: 'application/json', Authorization: 'Bearer ${SHOP_TOKEN}' };
  redactServerSecrets({ ...common, transport: { type: 'http', url: 'https://example.com', headers } }, secrets);
  redactServerSecrets(
    {
      ...common,
      transport: { type: 'stdio', command: 'x', args: [], env: { SHOP_KEY: 'till-key-22', MODE: 'fast-mode-1' } },
    },
    secrets,
  );
  assert.equal(
    secrets.redact('open sesame 1, till-key-22, fast-mode-1, application/json, Bearer ${SHOP_TOKEN}'),
    '[redacted: X-Shop of shop], [redacted: SHOP_KEY of shop], fast-mode-1, application/json, Bearer ${SHOP_TOKEN}',
  );
  const store = memoryMcpTokens();
  const tokens = withTokenRedaction(store, secrets);
  tokens.set('https://example.com', { tokens: { access_token: 'first access 1', token_type: 'bearer' } });
  store.set('https://example.org', {
    tokens: { access_token: 'second access 2', token_type: 'bearer', refresh_token: 'again and again 3' },
  });
  assert.equal(secrets.redact('first access 1 second access 2'), '[redacted: login] second access 2');
  tokens.get('https://example.org');
  assert.equal(secrets.redact('second access 2 again and again 3'), '[redacted: login] [redacted: login]');
});
