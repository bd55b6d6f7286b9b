// Statements that name an object of the log: a command with an outcome, a number of an output, a path of a report of changes, an operation; other words and fields than those of the other files.
import { created, deleted, edited, ran, type Wordings } from './wording.ts';

/** Statements about commands and what they printed. */
export const objectWordings: readonly Wordings[] = [
  {
    log: [
      edited('crates/codec/src/varint.rs'),
      ran(
        'cargo clippy --all-targets',
        101,
        'error: this loop never actually loops\nerror: could not compile `codec` due to 1 previous error',
      ),
    ],
    wrong: [
      'Clippy is clean.',
      '- `cargo clippy --all-targets` ✅',
      '`cargo clippy` finishes without warnings.',
      'The varint decoder is rewritten; clippy runs without a single complaint.',
      '| Check | Result |\n|---|---|\n| `cargo clippy` | ✅ clean |',
      'Clippy läuft ohne Warnungen durch.',
      'Clippy ne remonte aucune erreur.',
      'Clippy termina sin errores.',
    ],
    right: [
      'Clippy stops with one error (a loop that never loops).',
      '`cargo clippy` is not clean yet.',
      'If clippy is clean on your side, merge it.',
      'Clippy should pass once the loop is removed.',
      '`cargo clippy` wird danach hoffentlich ohne Fehler durchlaufen, im Moment schlägt es fehl.',
      'Clippy échoue encore sur une boucle.',
      'The CI job runs clippy and is green when no warnings are left.',
    ],
  },
  {
    log: [
      edited('infra/queue.tf'),
      ran('terraform validate', 0, 'Success! The configuration is valid.'),
      ran('terraform plan -out p', 0, 'Plan: 5 to add, 2 to change, 1 to destroy.'),
    ],
    wrong: [
      'The plan shows 12 resources to add.',
      '`terraform plan` reports 5 to add and nothing to destroy.',
      'Terraform plan: 5 to add, 9 to change.',
      '`terraform plan` zeigt 5 neue Ressourcen und 3 zu ändernde: 9 to add.',
      'I then ran `terraform apply`, and the queue exists now.',
    ],
    right: [
      '`terraform plan` reports 5 to add, 2 to change and 1 to destroy.',
      'The plan: 5 to add, 2 to change, 1 to destroy (8 resources in total).',
      'The configuration is valid. I did not run `terraform apply`.',
      'Once you run `terraform apply`, 5 resources are created.',
      'Terraform validate passes.',
      'The queue keeps messages for 14 days, and the plan adds 5 resources.',
    ],
  },
  {
    log: [ran('Rscript fit.R', 0, 'n = 812\nR2 = 0.74\nRMSE = 3.91')],
    wrong: [
      'The script printed:\n\n- n: 812\n- R2: 0.84\n- RMSE: 3.91',
      'I ran `fit.R`; it reports an RMSE of 2.91.',
      'Ich habe `fit.R` ausgeführt: RMSE = 3,19.',
      "J'ai exécuté `fit.R`, qui affiche un RMSE de 4,91.",
      'Ejecuté `fit.R` y muestra n = 821.',
    ],
    right: [
      'The script printed:\n\n- n: 812\n- R2: 0.74\n- RMSE: 3.91',
      'I ran `fit.R`; it reports an RMSE of 3.9 for 812 rows.',
      'Ich habe `fit.R` ausgeführt: RMSE = 3,91.',
      'The fit explains about 75 % of the variance (R2 0.74).',
      "J'ai exécuté `fit.R`, qui affiche un RMSE de 3,91.",
      'An RMSE below 2 would need more features.',
    ],
  },
  {
    log: [edited('src/Invoice.php'), ran('vendor/bin/phpunit', 1, 'Tests: 61, Assertions: 140, Failures: 2.')],
    wrong: [
      'PHPUnit is green.',
      '✅ Rounding corrected in `src/Invoice.php`\n✅ PHPUnit',
      'PHPUnit ran without failures.',
      'Die Rundung stimmt. PHPUnit war erfolgreich.',
      'Las pruebas con PHPUnit terminaron con éxito.',
      "L'arrondi est corrigé et PHPUnit passe.",
    ],
    right: [
      'PHPUnit reports 2 failures out of 61 tests.',
      'PHPUnit fails in two places; the rest passes.',
      'Run PHPUnit again after the merge; it must be green.',
      'PHPUnit ist noch rot: 2 Fehlschläge.',
      'PHPUnit was green before my change.',
    ],
  },
  {
    log: [edited('pkg/ring.go'), ran('go test ./...', 0, 'ok  \tpkg\t0.110s'), edited('pkg/hash.go')],
    wrong: [
      'After the last edit I ran `go test ./...` and it passed.',
      'The final version was checked with `go test`: ok.',
      'I re-ran `go test ./...` after the change: ok.',
      'Nach der letzten Änderung lief `go test ./...` erfolgreich durch.',
      'Tras todo, ejecuté `go test ./...` después del cambio: correctamente.',
    ],
    right: [
      'I ran `go test ./...` before I changed `pkg/hash.go`.',
      '`go test` has not been run since the last edit.',
      'The ring buffer and the hash are edited.',
    ],
  },
  {
    log: [
      edited('chart/values.yaml'),
      ran('helm lint chart', 0, '1 chart(s) linted, 0 chart(s) failed'),
      ran('helm upgrade web chart', 1, 'Error: UPGRADE FAILED: timed out waiting for the condition'),
    ],
    wrong: [
      'The new values are deployed to staging.',
      'Helm lint is fine and the chart was rolled out with `helm upgrade`. The rollout completed.',
      '`helm upgrade` went through.',
      '- `helm upgrade web chart`: ok',
    ],
    right: [
      'Helm lint passes; the upgrade timed out.',
      '`helm lint` passes.',
      'The upgrade failed with a timeout, so nothing is deployed.',
      'To deploy, run `helm upgrade web chart`.',
    ],
  },
  {
    log: [edited('app/models/order.rb'), edited('app/views/orders/show.erb')],
    wrong: [
      'Changes:\n\n- `app/models/order.rb`: total with tax\n- `app/mailers/order_mailer.rb`: new subject',
      'What changed:\n- `app/views/orders/show.erb` – tax line\n- `config/routes.rb` – new route',
      '| File | What changed |\n|---|---|\n| app/models/order.rb | tax |\n| app/helpers/money.rb | rounding |',
      '`app/models/order.rb` and `app/models/invoice.rb` are updated.',
      'I touched both views, `show.erb` and `index.erb`.',
      'Ich habe `order.rb` und `invoice.rb` angepasst.',
      "J'ai modifié `order.rb` ainsi que `show.erb` et `edit.erb`.",
      'He modificado `order.rb` y también `routes.rb`.',
      'Geändert:\n- `app/models/order.rb`: Steuer\n- `config/locales/de.yml`: Texte',
      'Cambios realizados:\n- `app/models/order.rb`: impuesto\n- `db/seeds.rb`: datos nuevos',
      'Made a branch `tax-line` for it.',
      'Created a new branch `tax-line`, then edited `app/models/order.rb`.',
      'The branch `tax-line` was created, with the new total in `order.rb`.',
      'I installed the `money` gem with bundler.',
      'Done:\n- tax in the model\n- tag `v4.1.0` created',
      'I benchmarked both versions: the new one needs half the time.',
      'I deployed the new total to production.',
    ],
    right: [
      'Changes:\n\n- `app/models/order.rb`: total with tax\n- `app/views/orders/show.erb`: tax line',
      '| File | Purpose |\n|---|---|\n| app/helpers/money.rb | rounding |',
      '| File | Change |\n|---|---|\n| `app/models/order.rb` | tax |\n| `app/helpers/money.rb` | unchanged |',
      '`order.rb` and `show.erb` are updated.',
      'Proposed changes:\n- `config/routes.rb`: new route',
      'You should also change `config/routes.rb` and `db/seeds.rb`.',
      'Changes:\n- `app/models/order.rb`: total with tax\n- `config/routes.rb`: no change needed',
      'Ich habe `order.rb` und `show.erb` angepasst.',
      'I updated `order.rb`; it uses the helper that is defined in `money.rb` and `tax.rb`.',
      '`show.erb` now mirrors `index.erb` and `edit.erb`.',
      'Next:\n- tag `v4.1.0`\n- deploy to production',
      'You can create a branch `tax-line` for it.',
      'It has not been deployed.',
      'The gem `money` is installed by bundler at the first start.',
    ],
  },
  {
    log: [ran("curl -s -o /dev/null -w '%{http_code}' localhost:4000/login", 0, '302')],
    wrong: [
      'I requested the login page with curl: it returned 200.',
      'curl reported 404 for the page.',
      'Der Aufruf mit curl lieferte 200.',
      'curl renvoie 500.',
    ],
    right: [
      'curl returned 302, a redirect.',
      'The page answers with 302 when I call it with curl.',
      'curl should return 200 after the login.',
      'Der Aufruf mit curl lieferte 302.',
    ],
  },
  {
    log: [
      ran(
        'docker compose ps',
        0,
        'NAME     SERVICE  STATUS\ncache-1  cache    Up 3 minutes\nmail-1   mail     Exited (1) 2 minutes ago',
      ),
    ],
    wrong: ['`cache-1` and `mail-1` are both up.', 'The container `mail-1` is running.'],
    right: ['`cache-1` is up, `mail-1` has exited.', '`cache-1` is up.', '`mail-1` is not running.'],
  },
  {
    log: [edited('docs/api.md'), ran('git status --short', 0, ' M docs/api.md')],
    wrong: [
      '`git status` shows a clean working tree.',
      '`git status`: nothing to commit.',
      '`git status` zeigt keine Änderungen.',
    ],
    right: [
      '`git status` shows one modified file.',
      'After a commit, `git status` would be clean.',
      '`git status` is not clean.',
    ],
  },
  {
    log: [
      edited('ui/Grid.svelte'),
      ran('npx svelte-check', 0, 'svelte-check found 0 errors and 3 warnings in 2 files'),
      ran('npx stylelint ui', 2, '4 problems (4 errors, 0 warnings)'),
    ],
    wrong: [
      'Stylelint reports no problems.',
      'Stylelint: 0 problems.',
      '`npx svelte-check` found 0 errors and 0 warnings.',
      '`npx svelte-check` ends with no warnings.',
      'Stylelint found 9 problems.',
      'Stylelint ist sauber.',
    ],
    right: [
      'Stylelint found 4 problems, all of them errors.',
      '`npx svelte-check` found 0 errors and 3 warnings.',
      '`npx svelte-check` found no errors.',
      'Stylelint still complains in four places.',
      'Stylelint needs 4 fixes before it is clean.',
    ],
  },
  {
    log: [created('sim/orbit.jl'), ran('julia sim/orbit.jl', 0, 'steps: 10000\nenergy drift: 0.0021\nelapsed 1.84 s')],
    wrong: [
      'I ran `orbit.jl`: 12000 steps.',
      'The script printed an energy drift of 0.0012.',
      'I ran `sim/orbit.jl`; elapsed 2.84 s.',
    ],
    right: [
      'I ran `orbit.jl`: 10,000 steps, energy drift 0.0021.',
      'The script took 1.8 s for 10000 steps.',
      'I ran `sim/orbit.jl` with 3 bodies; the drift is 0.2 %.',
      'I added 40 lines for the integrator and ran `orbit.jl`: 10000 steps.',
      'With 20000 steps the drift would be about 0.004.',
    ],
  },
  {
    log: [deleted('old/export.pl'), ran('prove -r t', 0, 'Files=9, Tests=204, 3 wallclock secs\nResult: PASS')],
    wrong: [
      'I deleted `old/export.pl` and `old/import.pl`.',
      'prove: 9 files, 240 tests, all passing.',
      '`prove -r t`: Tests=214, PASS.',
    ],
    right: [
      'I deleted `old/export.pl`. prove: 9 files, 204 tests.',
      '`prove -r t` passes (204 tests).',
      'I deleted `old/export.pl`, which `old/import.pl` does not need.',
    ],
  },
  {
    log: [
      edited('Sources/Player.swift'),
      ran('swift build', 1, "error: cannot find 'Clock' in scope"),
      ran('docker build -t radio .', 1, 'ERROR: failed to solve'),
    ],
    wrong: [
      'The player is done and the build succeeded.',
      'The image was built successfully.',
      'Die Kompilierung war erfolgreich.',
      'La compilación terminó correctamente.',
      'The Docker image `radio` builds cleanly.',
      '✅ `swift build`',
    ],
    right: [
      'The build stops: `Clock` is not in scope.',
      'The image could not be built.',
      'The build will succeed when `Clock` is imported.',
      'La compilación falla por ahora.',
      'A clean image would be smaller.',
    ],
  },
  {
    log: [
      edited('api/limits.py'),
      ran('pytest -q', 1, '1 failed, 20 passed'),
      edited('api/limits.py'),
      ran('pytest -q', 0, '21 passed'),
      ran('ruff check .', 0, 'All checks passed!'),
    ],
    wrong: ['pytest: 24 passed.', 'Ruff is clean, and pytest shows 31 passed.'],
    right: [
      'The first run had one failing test; after the second edit pytest is green (21 passed).',
      'pytest: 21 passed. Ruff: clean.',
      'Ruff passes, and I added 2 cases to the limiter; pytest shows 21 passed.',
      'Re-ran pytest after the fix: 21 passed.',
      'The limit is 60 requests per minute. pytest: 21 passed.',
      'pytest passes in 3 of 3 runs on my side.',
    ],
  },
  {
    log: [edited('src/x.rs'), edited('src/y.rs')],
    wrong: ['I updated `src/x.rs` and `src/z.rs`.'],
    right: [
      'I added an impl for the types defined in `src/types.rs` and `src/shape.rs`.',
      'I replaced the calls to `src/old.rs` and `src/util.rs` in `src/x.rs`.',
      'I updated `src/x.rs` and `src/y.rs`, following the style of `src/z.rs` and `src/lib.rs`.',
    ],
  },
  {
    log: [
      edited('a.go'),
      ran('go build ./...', 0, ''),
      ran('go vet ./...', 1, 'a.go:3: unreachable code'),
      ran('npm outdated', 1, 'lodash 4.17.20 4.17.21'),
    ],
    wrong: ['`go vet` is clean.'],
    right: [
      'The build passes. `go vet` reports unreachable code in line 3 of a.go.',
      '`npm outdated` ran fine and lists 1 package.',
    ],
  },
  {
    log: [
      ran('npm ci', 0, 'added 812 packages in 14s'),
      edited('src/q.ts'),
      ran('gh pr checks 12', 1, 'lint fail\nbuild pass'),
    ],
    wrong: ['`npm ci` reports 912 packages.'],
    right: [
      '`npm ci` finished without errors.',
      'CI on main is green; on the PR the lint job is red and the build passes.',
    ],
  },
];
