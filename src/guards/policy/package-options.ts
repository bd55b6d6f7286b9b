// The options of package managers: which take the next word as their value, and which choose where packages come from.

const toSet = (options: string): ReadonlySet<string> => new Set(options.split(' '));

const npmOptions = toSet(
  '-w --workspace --prefix -C --registry --tag --loglevel --cache --omit --include --only --userconfig --globalconfig --scope --otp -c --call --package --script-shell --before --cpu --os --libc --location -L --install-strategy --audit-level --node-options --depth --save-prefix --lockfile-version --access --fetch-retries --fetch-timeout --maxsockets --proxy --https-proxy --noproxy --cafile --logs-dir --init-author-name --init-license --init-version --init-module --pack-destination --sbom-format --viewer --user-agent --git --shell --editor -m --message',
);
const pnpmOptions = toSet(
  '-C --dir --prefix -F --filter --filter-prod --registry --store-dir --virtual-store-dir --reporter --loglevel --network-concurrency --child-concurrency --package --tag --lockfile-dir --modules-dir --workspace-concurrency --resume-from --test-pattern --use-node-version --allow-build --cpu --os --libc',
);
const yarnOptions = toSet(
  '--cwd --registry --cache-folder --modules-folder --mutex --network-timeout --network-concurrency --tag --use-yarnrc --package --mode --from --include --exclude -j --jobs --otp --preferred-cache-folder --global-folder --prefix --depth --pattern',
);
const bunOptions = toSet(
  '--cwd --registry --config -c --cache-dir --filter -F --backend --concurrent-scripts --network-concurrency --cafile --ca --omit --linker --package --env-file --preload --shell --cpu --os --minimum-release-age',
);
const pipOptions = toSet(
  '-r --requirement --requirements -c --constraint -i --index-url --extra-index-url -f --find-links -t --target --prefix --root --platform --python-version --implementation --abi --no-binary --only-binary --progress-bar --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --cache-dir --upgrade-strategy -C --config-settings --src --report --python --group --use-feature --use-deprecated --keyring-provider -d --dest --wheel-dir --root-user-action',
);
const uvOptions = toSet(
  '--directory --project --index --default-index --index-url -i --extra-index-url --find-links -f -p --python --group --no-group --only-group --extra --optional --package --prerelease --resolution --link-mode --cache-dir --color --config-file --with --with-editable --with-requirements --from -w -r --requirements --requirement -c --constraints --constraint --override --tag --branch --rev --bounds --index-strategy --keyring-provider --exclude-newer --env-file --python-platform --python-preference --target --prefix --refresh-package --upgrade-package -P --reinstall-package --no-extra --no-build-package --allow-insecure-host --torch-backend -C --config-setting --script -m --module -b --build-constraints',
);
const poetryOptions = toSet(
  '-G --group -C --directory -P --project --python --platform -E --extras --source --markers',
);
const pipxOptions = toSet('--python --pip-args --index-url -i --spec --suffix --preinstall --requirement -r');
const pdmOptions = toSet('-G --group -L --lockfile -p --project --features --python');
const pixiOptions = toSet(
  '-f --feature -p --platform -e --environment --manifest-path -c --channel -s --spec -w --with',
);
const pipenvOptions = toSet('-r --requirements -i --index --pypi-mirror --python --categories --extra-pip-args');
const condaOptions = toSet('-n --name -p --prefix -c --channel --file --solver --repodata-fn');
const composerOptions = toSet('-d --working-dir');
const dotnetOptions = toSet('-v --version -f --framework -s --source --add-source --project --tool-path');
const containerOptions = toSet(
  '--env --env-file --publish --volume --workdir --user --hostname --memory --cpu-shares --attach --label --label-file --name --network --net --mount --entrypoint --platform --cpus --memory-swap --shm-size --tmpfs --ulimit --device --gpus --restart --add-host --dns --cap-add --cap-drop --security-opt --pid --ipc --userns --uts --log-driver --log-opt --link --volumes-from --expose --ip --stop-signal --stop-timeout --health-cmd --health-interval --health-timeout --health-retries --runtime --cidfile --cgroup-parent --group-add --pull --sysctl --annotation --network-alias --context -H --host --config --log-level --connection --pod --secret',
);
const cargoOptions = toSet(
  '-F --features --git --branch --tag --rev --path --registry --index --version --vers --bin --example --profile --target --target-dir --root -j --jobs --config -Z --color --manifest-path --lockfile-path -C -p --package --rename --message-format --targets --install-path',
);
const goOptions = toSet(
  '-C -mod -modfile -o -p -tags -ldflags -gcflags -asmflags -overlay -pgo -pkgdir -exec -toolexec -buildmode -compiler -run -bench -count -timeout -coverprofile -covermode -coverpkg -cpu -parallel',
);
const gemOptions = toSet(
  '-v --version -i --install-dir -n --bindir -s --source --platform -p --http-proxy -P --trust-policy --document -g --file -B --build-root --group --git --github --branch --ref --glob --path --require --config-file',
);
const denoOptions = toSet(
  '-c --config --import-map --lock -L --log-level --cert --location --seed -o --output --port --host -n --name --root --ext --target --include --exclude --icon --filter --reporter --junit-path --watch-exclude',
);
const systemOptions = toSet(
  '-t --target-release -o --option -c --channel --name --prefix --file --root --source --directory --repo --profile --namespace --kubeconfig --kube-context --user-data-dir --extensions-dir --virtual',
);

const tables: readonly (readonly [RegExp, ReadonlySet<string>])[] = [
  [/^(?:npm|npx|ng|nx|expo|volta)$/, npmOptions],
  [/^pnp[mx]$/, pnpmOptions],
  [/^yarn$/, yarnOptions],
  [/^bunx?$/, bunOptions],
  [/^(?:pip[\d.]*|easy_install[\d.-]*)$/, pipOptions],
  [/^uvx?$/, uvOptions],
  [/^(?:poetry|hatch)$/, poetryOptions],
  [/^(?:pdm|rye)$/, pdmOptions],
  [/^pixi$/, pixiOptions],
  [/^pipenv$/, pipenvOptions],
  [/^pipx$/, pipxOptions],
  [/^cargo$/, cargoOptions],
  [/^go$/, goOptions],
  [/^(?:gem|bundler?)$/, gemOptions],
  [/^deno$/, denoOptions],
  [/^(?:conda|mamba|micromamba)$/, condaOptions],
  [/^composer$/, composerOptions],
  [/^dotnet$/, dotnetOptions],
  [/^(?:docker|podman|nerdctl)$/, containerOptions],
];

/** Short options of `docker run`, of which the last takes a value: `-itp 80:80`. */
const containerShortOptions = /^-[ditPq]*[epvwuhmcal]$/;

/** Returns true if an option of this program takes the next word as its value. A word after any other option may be a package. */
export function takesValue(program: string, option: string): boolean {
  if (!option.startsWith('-') || option.includes('=')) return false;
  if (/^(?:docker|podman|nerdctl)$/.test(program) && containerShortOptions.test(option)) return true;
  return (tables.find(([pattern]) => pattern.test(program))?.[1] ?? systemOptions).has(option);
}

/** Options that choose where packages come from. Option parsers accept abbreviations of most. */
export const sourceOptionPattern: RegExp =
  /^--?(?:reg|registry|index|default-index|extra-ind|find-links|source|userc|globalc|proxy|https-p|trusted-h|script-sh|config-file|channel|add-source)/;

/** Options whose value is a folder, which may be an expansion in quotes. */
export const folderOptions: RegExp =
  /^(?:--prefix|-C|--dir|--cwd|--directory|--project|--cache|--cache-dir|--target|-t|--target-dir|--manifest-path|--store-dir|--rootdir|-d|--working-dir)$/;
