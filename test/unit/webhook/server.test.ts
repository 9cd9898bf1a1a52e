// One process for all of them: to load the catalog takes longer than most of them do.
import './server/app.ts'
import './server/body-budget.ts'
import './server/connections.ts'
import './server/envelopes.ts'
import './server/json-scan.ts'
import './server/rate-limits.ts'
import './server/room.ts'
import './server/protocol.ts'
