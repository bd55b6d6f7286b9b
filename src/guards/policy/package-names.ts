// The names of package managers, and the first check of a command: it is loaded at every start, so that the rest is loaded only for commands that may install.

/** Splits a text at its spaces. */
export const splitAtSpaces = (text: string): readonly string[] => text.split(' ');

/** Names that are rarely used for anything but the package manager. */
export const clearNames: readonly string[] = splitAtSpaces(
  'npm npx pnpm pnpx yarn bun bunx pip uv uvx poetry pdm pipenv pipx cargo go gem bundle bundler deno easy_install composer corepack conda mamba micromamba dotnet apt apt-get aptitude dnf yum zypper brew apk pixi rye hatch mise asdf volta nix nix-shell nix-env pacman yay paru cpan cpanm luarocks opam cabal ncu npm-check-updates install-peerdeps',
);

/** Programs that install packages, extensions or images among other things. */
export const otherNames: readonly string[] = splitAtSpaces(
  'snap dart flutter mix gh code codium cursor windsurf helm kubectl krew docker podman nerdctl ng nx expo meteor jupyter flatpak port choco scoop winget pkg vcpkg conan spack stack ghcup rustup raco nimble zef dpkg rpm emerge guix xbps-install',
);

const possibleManagerPattern = new RegExp(
  `\\b(?:${[...clearNames, ...otherNames].join('|')}|python|node|R|Rscript|perl|ruby|php|install|add|dlx|require|download)`,
);

/** Returns false if a command line contains no name of a package manager and no word that may become one. */
export function mayInstallPackages(command: string): boolean {
  // Quotes, backslashes and line continuations inside a name would hide it from this check, but not from the shell.
  const plain = command.replaceAll(/\\\r?\n|["'\\]/g, '');
  return possibleManagerPattern.test(plain) || /\$'|[$`*?{[]/.test(command);
}
