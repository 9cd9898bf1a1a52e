// One process for all of them: to load the catalog takes longer than most of them do.
import './baseline/attacks.ts'
import './baseline/contests.ts'
import './baseline/dry-run.ts'
import './baseline/handlers.ts'
import './baseline/messages.ts'
import './baseline/overrides.ts'
import './baseline/properties.ts'

import './baseline/quotas.ts'

import './baseline/remedy/refusal.ts'

import './baseline/remedy/remedy.ts'
import './baseline/remedy/cache.ts'
import './baseline/snapshot.ts'
import './baseline/texts.ts'
import './baseline/verdicts.ts'
import './baseline/wording.ts'
