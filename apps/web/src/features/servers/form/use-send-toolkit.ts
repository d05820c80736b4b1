/**
 * Sends a toolkit. The API stores it before it connects, so closing the form keeps it. Stopping finds the new toolkit
 * by its unique name and deletes it, which ends its start.
 */
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { toast } from 'sonner'
import { answer, client, type Toolkit, type ToolkitBody } from '../../../lib/api.ts'
import { byId, useSaveToolkit, useToolkitList } from '../use-toolkits.ts'
import { tellProblem } from '../use-tools.ts'
import { sameName } from './field-errors.ts'

const AGAIN_MS = 200

/** A request that continues after the form closes. */
interface Sent {
  name: string
  controller: AbortController
  isOver: boolean
}

interface SendOptions {
  isSeen: (now: Toolkit) => boolean
  onSuccess: (saved: Toolkit) => void
  onError: (error: Error) => void
}

export function useSendToolkit(stored: Toolkit | undefined, onStopped: () => void) {
  const save = useSaveToolkit(stored)
  const sent = useRef<Sent>(undefined)
  const isMounted = useIsMounted()
  const stopping = useStopAdding(() => {
    sent.current?.controller.abort()
    onStopped()
  })
  const send = (name: string, json: ToolkitBody, { isSeen, ...callbacks }: SendOptions) => {
    const request: Sent = { name, controller: new AbortController(), isOver: false }
    sent.current = request
    save
      .mutateAsync({ json, isSeen, signal: request.controller.signal, isMounted }, callbacks)
      .catch(() => {})
      .finally(() => {
        request.isOver = true
      })
  }
  const stop = () => {
    const request = sent.current
    if (request && !stopping.isPending) stopping.mutate(request)
  }
  return { save, send, stop: save.isPending && !stored ? stop : undefined, isStopping: stopping.isPending }
}

function useStopAdding(done: () => void) {
  const list = useToolkitList()
  return useMutation({
    mutationFn: async (sent: Sent) => {
      const made = await findMade(sent)
      if (made) await answer(client.api.mcp[':id'].$delete(byId(made)))
      return made
    },
    onSuccess: (made, { name }) => {
      if (made) list.remove(made)
      toast.success(`${name} is not added`)
      done()
    },
    onError: tellProblem,
    onSettled: list.refresh,
  })
}

async function findMade(sent: Sent): Promise<Toolkit | undefined> {
  for (;;) {
    // Read before the list is fetched: a finished request is in the list.
    const isLast = sent.isOver
    const { toolkits } = await answer(client.api.mcp.$get({ query: {} }))
    const made = toolkits.find(({ tier, name }) => tier === 'user' && sameName(name, sent.name))
    if (made || isLast) return made
    await new Promise((resolve) => window.setTimeout(resolve, AGAIN_MS))
  }
}

function useIsMounted(): () => boolean {
  const mounted = useRef(false)
  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
    }
  }, [])
  return () => mounted.current
}
