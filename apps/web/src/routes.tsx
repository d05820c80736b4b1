/** All routes. A new page also needs an entry in `features/shell/pages.ts`. Pages load lazily. */

import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { readActivity } from './features/activity/activity-search.ts'
import { readApprovals } from './features/approvals/approvals-search.ts'
import { readOperator } from './features/operator/operator-search.ts'
import { readDialog } from './features/servers/add/dialog-search.ts'
import { readSettings } from './features/settings/settings-search.ts'
import { ErrorPage, NotFoundPage } from './features/shell/fallback-pages.tsx'
import { lazyPage } from './features/shell/lazy-page.tsx'
import { PendingPage } from './features/shell/pending-page.tsx'
import { Shell } from './features/shell/shell.tsx'
import { readSignInSearch } from './features/sign-in/sign-in-search.ts'
import { readThread } from './features/threads/thread-search.ts'
import { readTools } from './features/tools/tools-search.ts'
import { readRun, readWorkflow } from './features/workflows/workflow-search.ts'
import { BASE_PATH } from './lib/base-path.ts'
import { nothingElse } from './lib/url-search.ts'

const root = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: ErrorPage })

/** Routes for signed-in users, including unknown paths. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/connectors', replace: true })
  },
})

const connectors = createRoute({
  getParentRoute: () => shell,
  path: '/connectors',
  validateSearch: nothingElse(readDialog),
  component: lazyPage(() => import('./features/servers/list/connectors-page.tsx'), 'ConnectorsPage'),
})
const customToolkit = createRoute({
  getParentRoute: () => shell,
  path: '/connectors/custom/$id',
  component: lazyPage(() => import('./features/custom/custom-page.tsx'), 'CustomPage'),
})
const tools = createRoute({
  getParentRoute: () => shell,
  path: '/tools',
  validateSearch: nothingElse(readTools),
  component: lazyPage(() => import('./features/tools/tools-page.tsx'), 'ToolsPage'),
})
const threads = createRoute({
  getParentRoute: () => shell,
  path: '/threads',
  component: lazyPage(() => import('./features/threads/list/threads-page.tsx'), 'ThreadsPage'),
})
const thread = createRoute({
  getParentRoute: () => shell,
  path: '/threads/$id',
  validateSearch: nothingElse(readThread),
  component: lazyPage(() => import('./features/threads/thread-page.tsx'), 'ThreadPage'),
})
const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: nothingElse(readApprovals),
  component: lazyPage(() => import('./features/approvals/approvals-page.tsx'), 'ApprovalsPage'),
})
const workflows = createRoute({
  getParentRoute: () => shell,
  path: '/workflows',
  component: lazyPage(() => import('./features/workflows/list/workflows-page.tsx'), 'WorkflowsPage'),
})
const workflow = createRoute({
  getParentRoute: () => shell,
  path: '/workflows/$id',
  validateSearch: nothingElse(readWorkflow),
  component: lazyPage(() => import('./features/workflows/editor/workflow-page.tsx'), 'WorkflowPage'),
})
const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$id',
  validateSearch: nothingElse(readRun),
  component: lazyPage(() => import('./features/workflows/runs/run-page.tsx'), 'RunPage'),
})
const activity = createRoute({
  getParentRoute: () => shell,
  path: '/activity',
  validateSearch: nothingElse(readActivity),
  component: lazyPage(() => import('./features/activity/activity-page.tsx'), 'ActivityPage'),
})
const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: nothingElse(readSettings),
  component: lazyPage(() => import('./features/settings/settings-page.tsx'), 'SettingsPage'),
})
const operator = createRoute({
  getParentRoute: () => shell,
  path: '/operator',
  validateSearch: nothingElse(readOperator),
  component: lazyPage(() => import('./features/operator/operator-page.tsx'), 'OperatorPage'),
})
const nowhere = createRoute({ getParentRoute: () => shell, path: '$', component: NotFoundPage })
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: nothingElse(readSignInSearch),
  component: lazyPage(() => import('./features/sign-in/sign-in-page.tsx'), 'SignInPage'),
})
/** Pages of one-time links. The token is in the fragment, which servers do not log. */
const welcome = lazyPage(() => import('./features/sign-in/welcome-page.tsx'), 'WelcomePage')
const setup = createRoute({ getParentRoute: () => root, path: '/setup', component: welcome })
const invite = createRoute({ getParentRoute: () => root, path: '/invite', component: welcome })
const reset = createRoute({ getParentRoute: () => root, path: '/reset', component: welcome })

const inside = [
  connectors,
  customToolkit,
  tools,
  threads,
  thread,
  approvals,
  workflows,
  workflow,
  run,
  activity,
  settings,
  operator,
  nowhere,
]

export const createAppRouter = () =>
  createRouter({
    routeTree: root.addChildren([home, signIn, setup, invite, reset, shell.addChildren(inside)]),
    basepath: BASE_PATH || '/',
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultPendingComponent: PendingPage,
    defaultPendingMs: 150,
    defaultErrorComponent: ErrorPage,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
