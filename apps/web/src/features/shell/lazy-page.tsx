/**
 * Lazy pages. A page whose chunk fails to load shows the reason inside the shell and retries when the server is back.
 * The router's own lazy loading would reload the document instead.
 */
import { useQuery } from '@tanstack/react-query'
import type { RouteComponent } from '@tanstack/react-router'
import { type ComponentType, createElement } from 'react'
import { answer, client, ProblemError, problemOf } from '../../lib/api.ts'
import { Notice } from '../../ui/data/notice.tsx'
import { Button } from '../../ui/form/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PendingPage } from './pending-page.tsx'

/** Loosely typed, because page types depend on the router, which depends on its pages. */
export function lazyPage(load: () => Promise<object>, name: string): RouteComponent {
  const coming: Coming = { name, page: undefined, get }
  async function get() {
    coming.page ??= ((await load()) as Record<string, ComponentType>)[name]
    if (!coming.page) throw new TypeError(`No page is called ${name}.`)
    return true as const
  }
  const draw = () => createElement(PageSlot, { coming })
  // Preload failures are ignored.
  const preload = () => get().then(nothing, nothing)
  return Object.assign(draw, { preload })
}

const nothing = () => {}

interface Coming {
  name: string
  /** The loaded component. */
  page: ComponentType | undefined
  get: () => Promise<true>
}

/** Loads as a query, so that a reconnect refetches a failed page too. */
function PageSlot({ coming: { name, page: Loaded, get } }: { coming: Coming }) {
  const page = useQuery({
    queryKey: ['page', name],
    queryFn: () => get().catch(() => whyNot(name)),
    retry: false,
    networkMode: 'always',
    gcTime: 0,
    enabled: !Loaded,
  })
  if (Loaded) return <Loaded />
  if (!page.error) return <PendingPage />
  const { title, detail, action } = problemOf(page.error)
  return (
    <Page title="This page is not here yet">
      <Notice title={title} detail={detail} action={action}>
        <p className="mt-2 flex gap-2">
          <Button size="small" aria-disabled={page.isFetching} onClick={() => page.refetch()}>
            {page.isFetching ? 'Trying…' : 'Try again'}
          </Button>
          <Button size="small" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </p>
      </Notice>
    </Page>
  )
}

/** If the server answers without the chunk, it has a new version: reloads the document once. */
async function whyNot(name: string): Promise<never> {
  await answer(client.healthz.$get())
  if (isFirst(`loadout-reloaded ${name}`)) {
    window.location.reload()
    return new Promise(nothing)
  }
  throw new ProblemError({
    type: 'about:blank',
    title: 'A part of the app is missing',
    status: 0,
    code: 'unreadable',
    requestId: '',
    detail: 'The server answers, and does not have this page.',
    action: 'Reload. If it stays so, the server’s pages are not whole: build them again.',
  })
}

/** False if storage is blocked, because reloads could loop. */
function isFirst(mark: string): boolean {
  try {
    if (window.sessionStorage.getItem(mark) !== null) return false
    window.sessionStorage.setItem(mark, 'yes')
    return true
  } catch {
    return false
  }
}
