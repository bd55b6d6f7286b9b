// Keys that sign releases (Ed25519): create a key, sign a manifest, and verify a signature with the keys that are trusted.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { FairleadError, errorMessage } from '../../core/index.ts';
import { getManifestText, sha256, type ReleaseManifest } from './manifest.ts';

/** A key pair in PEM format. */
export type ReleaseKey = { readonly privateKey: string; readonly publicKey: string };

/** The signature of a manifest, and the id of the key that made it. */
export type ReleaseSignature = { readonly key: string; readonly signature: string };

/** Creates a key pair. */
export const createReleaseKey = (): ReleaseKey =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

/** Returns the id of a public key: the first 16 hexadecimal digits of its hash. */
export function getKeyId(publicKey: string): string {
  try {
    return sha256(createPublicKey(publicKey).export({ type: 'spki', format: 'der' })).slice(0, 16);
  } catch (error) {
    throw new FairleadError('release/bad-key', `A release key cannot be read: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'A key is a PEM text of an Ed25519 key; fairlead release key makes one.',
    });
  }
}

/** Signs a manifest with a private key in PEM format. */
export function signManifest(manifest: ReleaseManifest, privateKey: string): ReleaseSignature {
  const key = createPrivateKey(privateKey);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  return {
    key: getKeyId(publicKey),
    signature: sign(null, Buffer.from(getManifestText(manifest)), key).toString('base64'),
  };
}

/** Throws unless one of the trusted public keys made the signature. */
export function assertSigned(
  manifest: ReleaseManifest,
  { key, signature }: ReleaseSignature,
  trustedKeys: readonly string[],
): void {
  const publicKey = trustedKeys.find((each) => getKeyId(each) === key);
  const hint = 'Add its public key to release-keys.pem in the config directory, or create the release again.';
  if (publicKey === undefined)
    throw new FairleadError(
      'release/not-trusted',
      `The release ${manifest.name} is signed by the key ${key}, which is not trusted.`,
      { blame: 'user', hint },
    );
  if (!verify(null, Buffer.from(getManifestText(manifest)), publicKey, Buffer.from(signature, 'base64')))
    throw new FairleadError(
      'release/not-trusted',
      `The signature of the release ${manifest.name} does not match its manifest.`,
      { blame: 'user', hint },
    );
}

const pemBlock = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----/g;

/** Parses the public keys of a text, such as that of release-keys.pem. */
export const parsePublicKeys = (text: string): readonly string[] => text.match(pemBlock) ?? [];
