#pragma once
// The first actions of the single file (`packaging/build single`), because it runs on distributions
// that its libraries were not made for.

namespace dormouse::app {

// Call before all else, while the process has one thread.
// - Names are resolved by files and DNS only. glibc would otherwise load the plug-ins that
//   /etc/nsswitch.conf names, and those of another release of glibc can end the process.
// - SSL_CERT_FILE names the certificate authorities of this system if neither it nor SSL_CERT_DIR
//   is set: each distribution stores them in another file.
void prepare_single_file();

}  // namespace dormouse::app
