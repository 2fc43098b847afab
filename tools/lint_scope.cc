// A plugin for clang-tidy 19: checks look at the project's own declarations only. clang-tidy itself
// also walks those of system headers and then drops what it found there, which takes three quarters
// of its time (it no longer does so from release 21 on).

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <memory>
#include <string>
#include <vector>

namespace {

class OwnCode : public clang::ASTConsumer {
public:
    void HandleTranslationUnit(clang::ASTContext& context) override {
        clang::SourceManager const& sources = context.getSourceManager();
        std::vector<clang::Decl*> own;
        for (clang::Decl* const each : context.getTranslationUnitDecl()->decls()) {
            auto const at = sources.getExpansionLoc(each->getLocation());
            if (at.isValid() && !sources.isInSystemHeader(at)) own.push_back(each);
        }
        context.setTraversalScope(own);
    }
};

class OwnCodeAction : public clang::PluginASTAction {
protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                          llvm::StringRef) override {
        return std::make_unique<OwnCode>();
    }
    bool ParseArgs(clang::CompilerInstance const&, std::vector<std::string> const&) override {
        return true;
    }
    ActionType getActionType() override { return AddBeforeMainAction; }
};

clang::FrontendPluginRegistry::Add<OwnCodeAction> const registered("own-code",
                                                                   "looks at own code only");

}  // namespace
