import assert from 'node:assert/strict';
import test from 'node:test';
import { isSecretFile } from './secret-file.ts';

test('attacks 29 and 30: files with secrets are recognized by name, in any spelling', () => {
  const secret =
    '.env .ENV app/.env.production .env. certs/server.pem id_rsa .ssh/config .ssh .aws/credentials .npmrc ~/.netrc secrets.yaml .ｅnv .e\u200bnv .s\u2060sh/config C:\\x\\.env prod.env .envrc prod.tfvars secrets.prod.yaml app-secrets.json .vault-token .bash_history .config/gh/hosts.yml .config/gcloud/application_default_credentials.json .config/fairlead/config.json .codex/auth.json';
  for (const path of secret.split(' ')) assert.ok(isSecretFile(path), path);
});

test('other files are not', () => {
  const plain =
    '.env.example src/env.ts environment.md .environment keys.ts package.json .ssh/id_ed25519.pub monkey.js secret-file.ts .gitignore vite.env.d.ts secrets.ts docs/secrets.md .config/app/hosts.yml';
  for (const path of plain.split(' ')) assert.ok(!isSecretFile(path), path);
});
