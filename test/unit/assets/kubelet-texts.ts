const FOLDER = '/etc/openshift/kubelet.conf.d'

/** How a kubelet is started that reads the folder of settings. */
export const EXEC = `ExecStart=/usr/local/bin/kubenswrapper /usr/bin/kubelet \\
  --config-dir=${FOLDER} \\
  --v=2
`

type Texts = readonly (readonly [what: string, text: string])[]

/** Texts of the kubelet's unit by which it does not read the folder. */
export const DEAF: Texts = [
  ['a unit without such a folder', '[Service]\nExecStart=/usr/bin/kubelet --config=/x\n'],
  ['the folder in a comment only', `[Service]\n# --config-dir=${FOLDER}\n`],
  ['another folder', 'ExecStart=/usr/bin/kubelet --config-dir=/etc/kubernetes/x\n'],
  ['a folder in it', `ExecStart=/usr/bin/kubelet --config-dir=${FOLDER}/x\n`],
  ['one that begins alike', `ExecStart=/usr/bin/kubelet --config-dir=${FOLDER}.old\n`],
  ['an option that only begins alike', `ExecStart=/usr/bin/kubelet --config-directory=${FOLDER}\n`],
  ['the folder made and not read', `ExecStartPre=/bin/mkdir --parents ${FOLDER}\n`],
]

/** Texts by which it does. */
export const LISTENING: Texts = [
  ['a command of several lines', `[Service]\n${EXEC}`],
  ...[`=${FOLDER}`, `=${FOLDER}/`, ` ${FOLDER}`, `="${FOLDER}" \\`].map(
    (option) =>
      [`--config-dir${option}`, `ExecStart=/usr/bin/kubelet --config-dir${option}\n`] as const,
  ),
]
