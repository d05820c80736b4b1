import { Link } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { PROVIDER_NAMES } from './model-dialog.tsx'
import type { ModelState } from './use-model.ts'

const link = 'font-medium text-accent underline underline-offset-4'

/** Explains why no model is available. The rest of the thread works without one. */
export function NoModel({ state, onChoose }: { state: ModelState & { status: 'missing' }; onChoose: () => void }) {
  const keys = (
    <Link to="/settings" search={{ tab: 'models' }} className={link}>
      Save a key in Settings
    </Link>
  )
  return (
    <div className="flex gap-3 rounded-xl border bg-act-soft/60 p-3.5 text-sm">
      <KeyRound aria-hidden className="mt-0.5 size-4 shrink-0 text-act" />
      <div className="grid min-w-0 gap-1">
        <p className="font-medium">
          {state.what === 'model'
            ? 'No model is chosen yet'
            : `There is no key for ${PROVIDER_NAMES[state.provider as keyof typeof PROVIDER_NAMES] ?? state.provider}`}
        </p>
        <p className="text-ink-muted">
          {state.what === 'model' ? (
            <>
              {keys}, then{' '}
              <button type="button" className={link} onClick={onChoose}>
                choose a model
              </button>
              . The operator can set one for all with <code className="font-mono text-[0.9em]">LOADOUT_MODEL</code>.
            </>
          ) : (
            <>
              {keys} to ask <span className="font-mono text-[0.9em] wrap-anywhere">{state.model}</span>, or{' '}
              <button type="button" className={link} onClick={onChoose}>
                choose another model
              </button>
              .
            </>
          )}{' '}
          Finding tools and running programs need none.
        </p>
      </div>
    </div>
  )
}
