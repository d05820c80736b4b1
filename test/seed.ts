/** The test command draws the same random cases every time; `npm run prove:properties` draws others each time. */
import fc from 'fast-check'

const SEED = 20_261_115

if (process.env.LOADOUT_PROVE === undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED })
