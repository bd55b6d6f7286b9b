// The options of package managers: which take the next word as their value, and which choose where packages come from.

const toSet = (options: string): ReadonlySet<string> => new Set(options.split(' '));

const npmOptions = toSet(
  '-w --workspace --prefix -C --registry --tag --loglevel --cache --omit --include --only --userconfig --globalconfig --scope --otp -c --call --package --script-shell --before --cpu --os --libc --location -L --install-strategy --audit-level --node-options --depth --save-prefix --lockfile-version --access --fetch-retries --fetch-timeout --maxsockets --proxy --https-proxy --noproxy --cafile --logs-dir --init-author-name --init-license --init-version --init-module --pack-destination --sbom-format --viewer --user-agent --git --shell --editor -m --message',
);
const pnpmOptions = toSet(
  '-C --dir --prefix -F --filter --filter-prod --registry --store-dir --virtual-store-dir --reporter --loglevel --network-concurrency --child-concurrency --package --tag --lockfile-dir --modules-dir --workspace-concurrency --resume-from --test-pattern --use-node-version --allow-build --cpu --os --libc',
);
const yarnOptions = toSet(
  '--cwd --registry --cache-folder --modules-folder --mutex --network-timeout --network-concurrency --tag --use-yarnrc -p --package --mode --from --include --exclude -j --jobs --otp --preferred-cache-folder --global-folder --prefix --depth --pattern',
);
const bunOptions = toSet(
  '--cwd --registry --config -c --cache-dir --filter -F --backend --concurrent-scripts --network-concurrency --cafile --ca --omit --linker -p --package --env-file --preload -r --shell --cpu --os --minimum-release-age',
);
const pipOptions = toSet(
  '-r --requirement --requirements -c --constraint -i --index-url --extra-index-url -f --find-links -t --target --prefix --root --platform --python-version --implementation --abi --no-binary --only-binary --progress-bar --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --cache-dir --upgrade-strategy -C --config-settings --src --report --python --group --use-feature --use-deprecated --keyring-provider -d --dest --wheel-dir --root-user-action',
);
const uvOptions = toSet(
  '--directory --project --index --default-index --index-url -i --extra-index-url --find-links -f -p --python --group --no-group --only-group --extra --optional --package --prerelease --resolution --link-mode --cache-dir --color --config-file --with --with-editable --with-requirements --from -w -r --requirements --requirement -c --constraints --constraint --override --tag --branch --rev --bounds --index-strategy --keyring-provider --exclude-newer --env-file --python-platform --python-preference --target --prefix --no-binary --only-binary --refresh-package --upgrade-package -P --reinstall-package --no-extra --no-build-package --allow-insecure-host --torch-backend -C --config-setting -s --script -m --module -b --build-constraints',
);
const poetryOptions = toSet(
  '-G --group -C --directory -P --project --python --platform -E --extras --source --markers --with --without --only --optional -p -d --dev-group -L --lockfile --feature -f -n --environment --manifest-path',
);
const pipxOptions = toSet(
  '--python --pip-args --index-url -i --spec --suffix --fetch-missing-python --preinstall --requirement -r --backend --constraint',
);
const cargoOptions = toSet(
  '-F --features --git --branch --tag --rev --path --registry --index --version --vers --bin --example --profile --target --target-dir --root -j --jobs --config -Z --color --manifest-path --lockfile-path -C -p --package --rename --message-format --targets --install-path',
);
const goOptions = toSet(
  '-C -mod -modfile -o -p -tags -ldflags -gcflags -asmflags -overlay -pgo -pkgdir -exec -toolexec -buildmode -compiler -run -bench -count -timeout -coverprofile -covermode -coverpkg -cpu -parallel',
);
const gemOptions = toSet(
  '-v --version -i --install-dir -n --bindir -s --source --platform -p --http-proxy -P --trust-policy --document -g --file -B --build-root -E -a --add -r --remove --group --git --github --branch --ref --glob --path --require --config-file',
);
const denoOptions = toSet(
  '-c --config --import-map --lock -L --log-level --cert --location --seed -o --output --port --host -n --name --root --ext --target --include --exclude --icon --node-modules-dir --vendor --env-file --filter --reporter --junit-path --preload --import --coverage --watch-exclude',
);
const systemOptions = toSet(
  '-t --target-release -o --option -c --config-file --channel -n --name -p --prefix -f --file --root --framework -F --version -v --source -s --add-source --interactive -d --working-dir --directory -C --from -I --override-input --arg --argstr --namespace --kubeconfig --kube-context --profile --user-data-dir --extensions-dir -j --jobs --project --repo --remote --virtual',
);

const tables: readonly (readonly [RegExp, ReadonlySet<string>])[] = [
  [/^(?:npm|npx|ng|nx|expo|volta)$/, npmOptions],
  [/^pnp[mx]$/, pnpmOptions],
  [/^yarn$/, yarnOptions],
  [/^bunx?$/, bunOptions],
  [/^(?:pip[\d.]*|easy_install[\d.-]*|pipenv)$/, pipOptions],
  [/^uvx?$/, uvOptions],
  [/^(?:poetry|pdm|pixi|rye|hatch)$/, poetryOptions],
  [/^pipx$/, pipxOptions],
  [/^cargo$/, cargoOptions],
  [/^go$/, goOptions],
  [/^(?:gem|bundler?)$/, gemOptions],
  [/^deno$/, denoOptions],
];

/** Options of `docker run` that do not take the next word as their value. */
const containerFlags =
  /^(?:-[ditPq]+|--(?:rm|detach|interactive|tty|init|privileged|read-only|publish-all|quiet|no-healthcheck|oom-kill-disable|sig-proxy|all-tags|disable-content-trust|replace))$/;

/** Returns true if an option of this program takes the next word as its value. Other words after options may be packages. */
export function takesValue(program: string, option: string): boolean {
  if (!option.startsWith('-') || option.includes('=')) return false;
  if (/^(?:docker|podman|nerdctl)$/.test(program)) return !containerFlags.test(option);
  return (tables.find(([pattern]) => pattern.test(program))?.[1] ?? systemOptions).has(option);
}

/** Options that choose where packages come from. Option parsers accept abbreviations of most. */
export const sourceOptionPattern: RegExp =
  /^--?(?:reg|registry|index|default-index|extra-ind|find-links|source|userc|globalc|proxy|https-p|trusted-h|script-sh|config-file|channel|add-source)/;

/** Options whose value is a folder, which may be an expansion in quotes. */
export const folderOptions: RegExp =
  /^(?:--prefix|-C|--dir|--cwd|--directory|--project|--cache|--cache-dir|--target|-t|--target-dir|--manifest-path|--store-dir|--rootdir|-d|--working-dir)$/;
