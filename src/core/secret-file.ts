// Recognizes files that usually hold secrets by their names. A model reads them only with the approval of the user.
import { normalizeUnicode } from './normalize-unicode.ts';
import { normalizeFileName } from './paths.ts';

const secretFileNames: readonly RegExp[] = [
  /^\.env(\..+)?$|^\.envrc$|\.env$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /^\.(npmrc|pypirc|netrc|pgpass|git-credentials|htpasswd|dockercfg|vault-token|credentials\.json)$/,
  /^(credentials|secrets?)$|^(.*[._-])?(credentials|secrets?)([._-].*)?\.(json|ya?ml|toml|ini)$/,
  /\.tfvars(\.json)?$|^\.\w+_history$/,
];

/** Example files contain no secrets. */
const sampleSuffix = /\.(example|sample|template|dist)$/;
const secretFolders: ReadonlySet<string> = new Set(['.ssh', '.aws', '.gnupg', '.kube', '.docker', '.azure', '.codex']);
/** Folders of programs that keep their keys there. */
const secretConfigs: ReadonlySet<string> = new Set(['gcloud', 'gh', 'op', 'fairlead']);

/** Returns true if a file at this path usually holds secrets. Ignores case, Unicode normalization form and invisible characters. */
export function isSecretFile(path: string): boolean {
  const parts = normalizeUnicode(path, 'NFKC').split(/[/\\]/).map(normalizeFileName);
  const name = parts.pop() ?? '';
  if ([...parts, name].some((each) => secretFolders.has(each))) return !name.endsWith('.pub');
  if (parts.some((each, i) => each === '.config' && secretConfigs.has(parts[i + 1] ?? ''))) return true;
  return secretFileNames.some((each) => each.test(name)) && !sampleSuffix.test(name);
}
